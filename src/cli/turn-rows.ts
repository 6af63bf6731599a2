import type { VerbSpec } from './verb-spec.ts'

/** `hstore turn` and the verbs within it. */
export const turnVerb: VerbSpec = {
  name: 'turn',
  group: 'Hand over',
  summary: 'Read and judge the turns of an M8Shift relay',
  more: [
    'Reads M8SHIFT.md as M8Shift does, byte for byte, and says what M8Shift passes over. Needs no store, key or agent.',
  ],
  example: 'hstore turn validate --all --strict',
  verbs: [
    {
      name: 'validate',
      summary: 'Judge turns by the stage-4 contract',
      more: [
        "Gives the verdicts, report and exit codes of M8Shift's contract validate: 0 whatever is found, with --strict 1 for any finding, 1 for a file that M8Shift refuses to read. What hstore sees beyond is told as advisories.",
      ],
      example: 'hstore turn validate M8SHIFT.md --strict',
      args: [['[file]', 'the relay (M8SHIFT.md), or - for stdin']],
      options: [
        ['--archive <file>', "judge this archive's turns too"],
        ['--all', 'judge the archive beside the relay too, where there is one'],
        ['--strict', 'let findings decide the exit code, warnings too'],
        [
          '--severity-min <severity>',
          'leave out what is less: info (unless said), warning or error',
          ['info', 'warning', 'error'],
        ],
      ],
      load: async () => (await import('./verbs/turn.ts')).turnValidate,
    },
    {
      name: 'peek',
      summary: 'Show the handoff that waits for an agent',
      more: [
        "Shows the last turn that is addressed to the agent, as M8Shift's peek does. Ends with 0 when the agent may take the pen, else with 3.",
      ],
      example: 'hstore turn peek alpha',
      args: [['<agent>', 'the agent, as the relay lists it']],
      options: [['--file <file>', 'the relay (M8SHIFT.md), or - for stdin']],
      load: async () => (await import('./verbs/turn.ts')).turnPeek,
    },
  ],
}
