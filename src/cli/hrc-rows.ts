import type { VerbSpec } from './verb-spec.ts'

/** `hstore hrc` and the verb within it. */
export const hrcVerb: VerbSpec = {
  name: 'hrc',
  group: 'Check',
  summary: 'Judge plain documents of HRC-001',
  example: 'hstore hrc evaluate --stage handoff --state state.json --proposal proposal.json',
  verbs: [
    {
      name: 'evaluate',
      summary: 'Say whether a step on a lane, a handoff or its commit may go ahead',
      more: [
        "Prints HRC-001's status and its detail. Each stage begins with those before it. Needs no store, key or agent; a commit is only judged, nothing is written.",
        'Ends with 0 for allowed and deliverable, 3 for what is pending (a handoff at the stage transition too), 6 for BLOCKED_CAS_CONFLICT, 7 for BLOCKED_UNREAD_PREDECESSOR, 1 for all else that is blocked, 2 for a document that breaks its schema.',
      ],
      example:
        'hstore hrc evaluate --stage commit --state state.json --proposal proposal.json --signal signal.json --ack ack.json',
      options: [
        [
          '--stage <stage>',
          'how far to go: transition, handoff or commit',
          ['transition', 'handoff', 'commit'],
        ],
        ['--state <file>', 'the coordination state, or - for stdin'],
        ['--proposal <file>', 'the transition proposal, or - for stdin'],
        ['--signal <file>', "the target's reachability signal, or - for stdin"],
        ['--ack <file>', "the recipient's acknowledgement, or - for stdin"],
        ['--now <tick>', 'judge the signal at this time, whole seconds since 1970 (the clock)'],
      ],
      load: async () => (await import('./verbs/hrc.ts')).hrcEvaluate,
    },
  ],
}
