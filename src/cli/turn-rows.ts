import type { VerbSpec } from './verb-spec.ts'

const relay = ['--relay <name>', 'what the relay is called in the store'] as const

/** `hstore turn` and the verbs within it. */
export const turnVerb: VerbSpec = {
  name: 'turn',
  group: 'Hand over',
  summary: 'Keep, read and judge the turns of an M8Shift relay',
  more: [
    'Reads M8SHIFT.md as M8Shift does, byte for byte, and says what M8Shift passes over; validate and peek need no store, key or agent. With import each turn becomes a signed entry, and what was done to a closed turn since is found.',
  ],
  example: 'hstore turn validate --all --strict',
  verbs: [
    {
      name: 'import',
      summary: 'Take a relay and its archive into the store',
      more: [
        'Each closed turn that is new becomes a signed entry behind the one before; turns of agents that the acting one can not speak for enter as witness entries. The archive beside M8SHIFT.md is taken in too. The same files again add nothing.',
        'Ends with 6, and takes nothing in, when a closed turn was rewritten, removed, renumbered or reordered since the import before, or another was put in between: the difference is shown. What archive runs of M8Shift change is told, and no fault.',
      ],
      example: 'hstore turn import M8SHIFT.md --relay demo',
      args: [['<file>', 'the relay, or - for stdin']],
      options: [
        relay,
        ['--archive <file>', 'the archive (else the one beside M8SHIFT.md)'],
        ['--parent <cid...>', 'the heads that the first new turn joins, where there are several'],
      ],
      load: async () => (await import('./verbs/turn-store.ts')).turnImport,
    },
    {
      name: 'export',
      summary: "Give a relay's files back, byte for byte",
      more: ['The relay goes to stdout, unless --out names a new file. Writes over no file.'],
      example: 'hstore turn export --relay demo > M8SHIFT.md',
      options: [
        relay,
        ['--out <file>', 'write the relay here, - for stdout'],
        ['--archive <file>', 'write the archive here, - for stdout'],
      ],
      load: async () => (await import('./verbs/turn-export.ts')).turnExport,
    },
    {
      name: 'append',
      summary: 'Write a turn into the store and the relay',
      more: [
        "The turn is signed by the acting agent, of whom <agent> has to be a name. It is refused and neutralised as M8Shift's append does, which wants the agent to hold the pen; with --file it is written into that relay too, once it is in the store. Without --file the relay is written on as the store has it, and the pen is taken where M8Shift's claim would give it.",
        'Model and effort come from M8SHIFT_AGENT_MODEL and M8SHIFT_AGENT_EFFORT, else from the LOCK block.',
      ],
      example: 'hstore turn append alpha --to beta --ask review --relay demo --file M8SHIFT.md',
      args: [
        ['[agent]', 'who writes, as the relay lists it (else the name of the acting agent there)'],
      ],
      options: [
        relay,
        ['--file <file>', 'the relay; turns in it that are new go into the store first'],
        ['--archive <file>', 'the archive (else the one beside M8SHIFT.md)'],
        ['--parent <cid...>', 'the heads that the turn joins, where there are several'],
        ['--to <agent>', 'whom the turn is for'],
        ['--ask <text>', 'what is asked for'],
        ['--done <text>', 'what was done'],
        ['--files <list>', 'which files, set apart by commas'],
        ['--branch <text>', 'a field of this name, as all that follow'],
        ['--commit <text>', 'as said'],
        ['--tests <text>', 'as said'],
        ['--next <text>', 'as said'],
        ['--blocked-on <text>', 'as said'],
        ['--role-from <text>', 'as said'],
        ['--role-to <text>', 'as said'],
        ['--relation <relation>', 'handoff, review_request, review_result or escalation'],
        ['--requires <text>', 'as said'],
        ['--expected-output <text>', 'as said'],
        ['--evidence <text>', 'as said'],
        ['--decision <decision>', 'approve, revise, reject or waive'],
        ['--waiver-reason <text>', 'as said'],
        ['--schema <schema>', 'stage4.v1 puts the turn under contract'],
        ['--permissions <text>', 'as said'],
        ['--stance <text>', 'as said'],
        ['--field <key=value...>', 'any other field; more of them in this order'],
        ['--body <file>', 'the body, or - for stdin'],
        ['--allow-large-body', 'take a body of more than 262,144 bytes'],
      ],
      load: async () => (await import('./verbs/turn-append.ts')).turnAppend,
    },
    {
      name: 'log',
      summary: 'List the turns of a relay, the last first',
      example: 'hstore turn log --relay demo',
      options: [relay, ['-n <count>', 'list at most this many']],
      load: async () => (await import('./verbs/turn-store.ts')).turnLog,
    },
    {
      name: 'validate',
      summary: 'Judge turns by the stage-4 contract',
      more: [
        "Gives the verdicts, report and exit codes of M8Shift's contract validate: 0 whatever is found, with --strict 1 for any finding, 1 for a file that M8Shift refuses to read. What hstore sees beyond is told as advisories.",
      ],
      example: 'hstore turn validate M8SHIFT.md --strict',
      args: [['[file]', 'the relay (M8SHIFT.md), or - for stdin']],
      options: [
        ['--relay <name>', 'judge this relay of the store, over the graph too'],
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
