import { agent } from './key-rows.ts'
import type { VerbRow, VerbSpec } from './verb-spec.ts'

const did = ['<did>', 'the did:key, as hstore key show prints it'] as const
const yes: VerbRow = ['--yes', 'do not ask: what falls outside was looked at']
const instead: VerbRow = [
  '--instead',
  'sign it although another version with its number has this signature',
]
const place: readonly VerbRow[] = [
  ['--as-of-head', 'keep all that this store holds of the key'],
  [
    '--at <cid...>',
    'keep these entries of the key and what they go back to, what a freeze keeps, or none',
  ],
  ['--except <cid...>', 'but for these entries'],
]
const cutWords =
  'What stays good is said by entries of the key, not by dates: --as-of-head or --at. Prints for each stream the last entry that stays good and how many fall outside, and asks; without a terminal --yes is needed.'
const signedWords =
  'The acting agent has to be a root. Where the threshold wants more signatures the version waits for them, and the verb ends with 3: other roots add theirs with hstore roster sign.'

/** `hstore roster` and the verbs within it. */
export const rosterVerb: VerbSpec = {
  name: 'roster',
  group: 'Set up',
  summary: 'Show or change who is trusted',
  example: 'hstore roster add csag:agent/agent-a did:key:z6Mk…',
  verbs: [
    {
      name: 'show',
      summary: 'Show an accepted roster, what waits for signatures, and freezes',
      example: 'hstore roster show 3',
      args: [['[version]', 'an earlier version (else the highest)']],
      load: async () => (await import('./verbs/roster.ts')).rosterShow,
    },
    {
      name: 'add',
      summary: "Trust an agent's key",
      more: [signedWords],
      example: 'hstore roster add csag:agent/agent-a did:key:z6Mk… --machine laptop',
      args: [agent, did],
      options: [
        ['--machine <name>', 'the machine that the key is on'],
        ['--level <level>', 'file, or agent for a key that no program can read', ['file', 'agent']],
        ['--grant <grant...>', 'what the key may sign, as KINDS:STREAMS (else everything)'],
        ['--read <pattern...>', 'the streams that a new agent may read, or none (else everything)'],
        ['--replaces <did>', 'close what this other key of the agent may, in the same version'],
        ...place,
        yes,
        instead,
      ],
      load: async () => (await import('./verbs/roster.ts')).rosterAdd,
    },
    {
      name: 'remove',
      summary: 'Close all that an agent, or one key of it, may sign',
      more: [cutWords, signedWords],
      example: 'hstore roster remove csag:agent/agent-a --as-of-head',
      args: [agent, ['[did]', 'one key (else all keys of the agent)']],
      options: [...place, yes, instead],
      load: async () => (await import('./verbs/roster-cut.ts')).rosterRemove,
    },
    {
      name: 'alias',
      summary: 'Give an agent another name that documents may call it by',
      more: [signedWords],
      example: 'hstore roster alias csag:agent/agent-a alpha',
      args: [agent, ['<name>', 'the other name']],
      options: [instead],
      load: async () => (await import('./verbs/roster.ts')).rosterAlias,
    },
    {
      name: 'grant',
      summary: 'Give a key more rights, or count entries that a cut left out',
      more: [
        'A grant is KINDS:STREAMS: kinds with commas between, and a stream or the beginning of one with * behind it, as in envelope,certificate:*. Without any, everything.',
        signedWords,
      ],
      example: 'hstore roster grant csag:agent/agent-a did:key:z6Mk… turn:m8:tides',
      args: [agent, did, ['[grant...]', 'what the key may sign from now on']],
      options: [
        ['--readmit <cid...>', 'give the right to these entries alone, and none from now on'],
        instead,
      ],
      load: async () => (await import('./verbs/roster.ts')).rosterGrant,
    },
    {
      name: 'read',
      summary: 'Say which streams an agent may read where the store is served',
      more: [
        'In place of what it may read now. A pattern is a stream, whose family may be left out where the rest is unique, or the beginning of one with * behind it; none leaves the rosters alone. Holds for serve --listen; whoever has the folder, or an account over ssh, reads everything, and what an agent has it keeps.',
        signedWords,
      ],
      example: 'hstore roster read csag:agent/agent-a csag:handoff/tide-gauge lane:*',
      args: [agent, ['<pattern...>', 'streams, or none']],
      options: [instead],
      load: async () => (await import('./verbs/roster.ts')).rosterRead,
    },
    {
      name: 'revoke',
      summary: 'Close what a key may sign, all or in part',
      more: [cutWords, signedWords],
      example: 'hstore roster revoke csag:agent/agent-a did:key:z6Mk… --at baguqeera…',
      args: [agent, did, ['[grant...]', 'open grants to close (else all)']],
      options: [
        ['--keep <grant...>', 'give these in their place: what the key may from now on'],
        ...place,
        yes,
        instead,
      ],
      load: async () => (await import('./verbs/roster-cut.ts')).rosterRevoke,
    },
    {
      name: 'propose',
      summary: 'Change the roots, or how many of them have to sign',
      more: [
        signedWords,
        'The new roots have to sign too, as many as the new threshold wants, before the version counts.',
      ],
      example: 'hstore roster propose --root did:key:z6Mk…:maria --threshold 2',
      options: [
        ['--root <root...>', 'a new root, as DID:HOLDER; keys of one holder count once'],
        ['--drop <did...>', 'these are roots no more'],
        ['--threshold <number>', 'how many holders have to sign'],
        instead,
      ],
      load: async () => (await import('./verbs/roster.ts')).rosterPropose,
    },
    {
      name: 'sign',
      summary: "Add a root's signature to a version that waits for it",
      more: ['Prints what the version changes, and asks; without a terminal --yes is needed.'],
      example: 'hstore roster sign baguqeera…',
      args: [['<cid>', 'the body, as hstore roster show lists it']],
      options: [yes, instead],
      load: async () => (await import('./verbs/roster-cut.ts')).rosterSign,
    },
    {
      name: 'check',
      summary: 'Say why an entry is valid, held or rejected',
      more: ['Ends with 0 where it is valid, 3 held, 4 of an unknown signer, 5 rejected.'],
      example: 'hstore roster check baguqeera…',
      args: [['<ref>', 'an entry']],
      load: async () => (await import('./verbs/roster.ts')).rosterCheck,
    },
    {
      name: 'pin',
      summary: 'Go on with one of two rosters that stand against each other',
      more: [
        'On this machine alone. Where the acting agent is a root, its next change of the roster settles it for all.',
      ],
      example: 'hstore roster pin baguqeera…',
      args: [['<cid>', 'the body, as hstore roster show lists it']],
      load: async () => (await import('./verbs/roster.ts')).rosterPin,
    },
  ],
}

/** `hstore freeze`. */
export const freezeVerb: VerbSpec = {
  name: 'freeze',
  group: 'Set up',
  summary: "Stop the acting agent's own key until the roots decide",
  more: [
    'For a key that may be in other hands: needs no root. All that the key has signed and that is not kept is held, what it signs from now on too, until a roster that has seen the freeze closes its grants. Prints what stays good, and asks; without a terminal --yes is needed.',
  ],
  example: 'hstore freeze --as csag:agent/agent-a --at baguqeera…',
  options: [
    [
      '--at <cid...>',
      'keep these entries of the key and what they go back to (else all that is here)',
    ],
    ['--except <cid...>', 'but for these entries and what comes behind them'],
    yes,
  ],
  load: async () => (await import('./verbs/roster-cut.ts')).freeze,
}

const named = ['<ref>', 'an entry, or a revision that has two documents'] as const

/** `hstore proof` and the verbs within it. */
export const proofVerb: VerbSpec = {
  name: 'proof',
  group: 'Check',
  summary: 'Prove that a name was given two meanings',
  example: 'hstore proof show csag:handoff/lite/revision/R0001',
  verbs: [
    {
      name: 'show',
      summary: 'Show what the store can prove against the name of an entry, and what resolves it',
      more: ['Ends with 0 where something is proven, else with 1.'],
      example: 'hstore proof show csag:handoff/lite/revision/R0001',
      args: [named],
      load: async () => (await import('./verbs/proof.ts')).proofShow,
    },
    {
      name: 'export',
      summary: 'Write the two entries that prove it to a file',
      more: ['The proof goes to stdout, unless --out names a new file. Writes over no file.'],
      example: 'hstore proof export csag:handoff/lite/revision/R0001 --out proof.json',
      args: [named],
      options: [['--out <file>', 'write the proof here']],
      load: async () => (await import('./verbs/proof.ts')).proofExport,
    },
    {
      name: 'check',
      summary: 'Check a proof that somebody sent',
      more: [
        'Needs no store: the two signed entries prove it. Whose keys signed them, the rosters of the store say: with one at hand that has the same genesis they are asked.',
        'Ends with 0 where it is proven, 1 where nothing is, 3 where no roster is at hand or one entry is held, 4 of an unknown signer.',
      ],
      example: 'hstore proof check proof.json',
      args: [['<file>', 'the proof, or - for stdin']],
      load: async () => (await import('./verbs/proof.ts')).proofCheck,
    },
  ],
}
