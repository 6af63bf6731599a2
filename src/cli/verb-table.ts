import { hrcVerb } from './hrc-rows.ts'
import { keyVerb, noPassphrase } from './key-rows.ts'
import { inboxVerb, laneVerb, mayActVerb } from './lane-rows.ts'
import { freezeVerb, proofVerb, rosterVerb } from './roster-rows.ts'
import { syncVerbs } from './sync-rows.ts'
import { turnVerb } from './turn-rows.ts'
import type { VerbRow, VerbSpec } from './verb-spec.ts'

export type { VerbRow, VerbSpec } from './verb-spec.ts'

/** What the program does, in one line. */
export const programSummary = 'Store and check signed handoffs between agents'

/** Options that every verb takes. */
export const globalOptions: readonly VerbRow[] = [
  ['--store <dir>', 'the store (HSTORE_STORE; else the nearest .hstore upward)'],
  ['--keys <dir>', 'the folder of keys (HSTORE_KEYS)'],
  ['--as <agent>', 'who acts (HSTORE_AGENT; else the agent that made the store)'],
  ['--json', 'print one JSON object'],
  ['--wait <seconds>', 'how long to wait for another process (30)'],
  ['--genesis <cid>', 'accept the store with this genesis'],
  [
    '--passphrase-file <file>',
    'read the passphrase from a file, or - for stdin (else HSTORE_PASSPHRASE)',
  ],
]

const ref = ['<ref>', 'a CID, a stream with one head, or a revision'] as const
const nulEnded = ['-z', 'end each record with NUL, names as they are'] as const

/** All verbs, in the order of help. */
export const verbs: readonly VerbSpec[] = [
  {
    name: 'init',
    group: 'Set up',
    summary: 'Make a store with this agent as its root',
    more: [
      "The store is made in .hstore, or where --store says, and the agent's key where it has none on this machine. The genesis CID that is printed names the store: tell it to whoever gets a copy. A second init changes nothing and ends with 6.",
    ],
    example: 'hstore init --as csag:agent/merger --no-passphrase',
    options: [noPassphrase],
    load: async () => (await import('./verbs/init.ts')).init,
  },
  keyVerb,
  {
    name: 'put',
    group: 'Hand over',
    summary: 'Check, take in and sign envelopes; print their CIDs',
    more: [
      'Each envelope is judged by the handoff profile and its files are taken in; the CID is printed once all is on disk. The same document again gives the entry that is there. Of several files, the first that fails ends the verb: what was printed is stored, what comes behind is not tried.',
      'Ends with 1 when the document breaks its contract or a promised file is absent, 2 for a parent that the store does not hold, 4 without key or right, 6 when heads moved or the revision was given another document.',
    ],
    example: 'hstore put handoff.json --as csag:agent/merger',
    args: [['<file...>', 'envelopes, or - for stdin']],
    options: [
      ['--batch', 'take each line of a file for an envelope'],
      ['--bundle <dir>', "where the envelope's files are (else its own folder)"],
      ['--shallow', 'go on without the parents that the store does not hold'],
      ['--parent <cid...>', 'follow this parent, a REF, though it has children already'],
    ],
    load: async () => (await import('./verbs/put.ts')).put,
  },
  {
    name: 'get',
    group: 'Look',
    summary: 'Print what a REF names',
    more: [
      "Without options, the exact bytes of the entry's document, or of the artifact. --out writes nothing outside its folder, and over no file.",
    ],
    example: 'hstore get baguqeera… > body.json',
    args: [ref],
    options: [
      ['--entry', "print the entry's block"],
      ['--dsse', 'print the entry as a DSSE envelope, for other verifiers'],
      ['--original', 'print the file as it was given'],
      ['--out <dir>', 'lay out the bundle in a new folder'],
    ],
    load: async () => (await import('./verbs/get.ts')).get,
  },
  {
    name: 'verify',
    group: 'Check',
    summary: 'Check hashes, signatures and trust',
    more: [
      "With a REF, all that it rests on; without, the whole store. Contract rules are validate's and the gate's.",
      'Ends with 0, 1 when there was nothing to check, 3 when entries are held, 4 when every error is an unknown signer, 6 when every error is an equivocation, else 5.',
    ],
    example: 'hstore verify --all',
    args: [['[ref...]', 'what to check with all it rests on, or - for names on stdin']],
    options: [
      ['--all', 'check every block of the store (as without a REF)'],
      ['--full', 'check signatures again that were checked before'],
    ],
    load: async () => (await import('./verbs/verify.ts')).verify,
  },
  {
    name: 'validate',
    group: 'Check',
    summary: "Judge an envelope by its contract's rules",
    more: [
      "Gives upstream's report and exit codes: 0 valid, 1 not, 2 usage. Needs no store, key or agent for a file.",
    ],
    example: 'hstore validate handoff.json --profile handoff --report-out report.json',
    args: [['<file|ref>', 'an envelope, - for stdin, or a REF']],
    options: [
      ['--profile <profile>', 'whose rules: handoff, the one that there is', ['handoff']],
      ['--report-out <file>', 'write the report here'],
      ['--bundle <dir>', "where the envelope's files are (else its own folder)"],
    ],
    load: async () => (await import('./verbs/validate.ts')).validate,
  },
  {
    name: 'resume',
    group: 'Hand over',
    summary: 'Ask the gate whether to go on from a handoff, and what to do next',
    more: [
      'The gate checks every block, signature, signer, parent, rule and artifact that the handoff rests on, and signs what it found as a certificate.',
      'Ends with 0 complete, 1 partial, 3 pending, 5 unsafe; 4 for an unknown signer or a missing key, 6 for an equivocation.',
    ],
    example: 'hstore resume csag:handoff/lite --as csag:agent/agent-a',
    args: [ref],
    options: [
      ['--accept-shallow <revision...>', 'go on although these revisions are not here'],
      ['--out <dir>', 'lay out the bundle in a new folder'],
      ['--full', 'read everything again, whatever was verified before'],
      ['--no-certificate', 'sign nothing; needs no key'],
    ],
    load: async () => (await import('./verbs/resume.ts')).resume,
  },
  {
    name: 'log',
    group: 'Look',
    summary: 'List an entry, or all heads of a stream, with the ancestors',
    more: [
      'Children stand before their parents. With --graph a CID may be cut to fit the terminal: the revision beside it is a REF, a cut CID is none.',
    ],
    example: 'hstore log csag:handoff/lite --graph',
    args: [ref],
    options: [['-n <count>', 'how many at most'], ['--graph', 'draw forks and merges'], nulEnded],
    load: async () => (await import('./verbs/log.ts')).log,
  },
  {
    name: 'diff',
    group: 'Look',
    summary: 'Compare two documents by their records',
    more: ['Ends with 0 where they are the same and with 1 where they differ.'],
    example: 'hstore diff csag:handoff/lite/revision/R0001 csag:handoff/lite',
    args: [
      ['<a>', 'what to compare'],
      ['<b>', 'with what'],
    ],
    load: async () => (await import('./verbs/diff.ts')).diff,
  },
  {
    name: 'blame',
    group: 'Look',
    summary: 'Tell whose word each record of an envelope is',
    more: [
      'For each assessment, action, execution and conflict: proven, changed, stale, unproven or forged, the creator, and the entries that stated and changed it; then the records of the history that the envelope lacks, as dropped.',
      'Ends with 0, with 1 where a record is stale or forged, with 5 where the history can not be read whole.',
    ],
    example: 'hstore blame csag:handoff/lite',
    args: [ref],
    load: async () => (await import('./verbs/blame.ts')).blame,
  },
  {
    name: 'show',
    group: 'Look',
    summary: 'Show an entry and its document, or what another block is',
    example: 'hstore show baguqeera…',
    args: [ref],
    load: async () => (await import('./verbs/show.ts')).show,
  },
  {
    name: 'heads',
    group: 'Look',
    summary: 'List the heads of all streams',
    more: ['Two heads of one stream are a fork.'],
    example: 'hstore heads',
    options: [nulEnded],
    load: async () => (await import('./verbs/heads.ts')).heads,
  },
  rosterVerb,
  freezeVerb,
  proofVerb,
  {
    name: 'status',
    group: 'Look',
    summary: 'Show heads, forks, what does not count, and damage seen',
    more: [
      'Shows forks, entries that do not count, entries by keys of this machine that this store did not make, and damage seen. Reads every entry; ends with 5 when one can not be read.',
    ],
    example: 'hstore status',
    load: async () => (await import('./verbs/status.ts')).status,
  },
  {
    name: 'stats',
    group: 'Upkeep',
    summary: 'Count what the store holds',
    example: 'hstore stats',
    load: async () => (await import('./verbs/stats.ts')).stats,
  },
  {
    name: 'fsck',
    group: 'Upkeep',
    summary: 'Check every block, link, index and artifact, whatever state the store is in',
    more: [
      'Ends with 5 and the list of what is damaged or lost. Needs no key and accepts no genesis. --rebuild makes the indexes from the blocks; where the database can not be read whole it puts a new one in its place and keeps the old one in the store.',
    ],
    example: 'hstore fsck --rebuild',
    options: [
      ['--rebuild', 'put right what can be: indexes, the database, the configuration'],
      ['--forget-lost', 'name no more what earlier rebuilds went on without'],
    ],
    load: async () => (await import('./verbs/fsck.ts')).fsck,
  },
  {
    name: 'gc',
    group: 'Upkeep',
    summary: 'Delete what no entry needs',
    more: [
      'Entries stay, whatever they are worth. Files younger than a day are spared. Nothing is deleted while a block is damaged or an acknowledged entry is lost.',
    ],
    example: 'hstore gc',
    load: async () => (await import('./verbs/gc.ts')).gc,
  },
  turnVerb,
  laneVerb,
  inboxVerb,
  mayActVerb,
  hrcVerb,
  ...syncVerbs,
  {
    name: 'completion',
    summary: 'Print a completion script for a shell',
    more: [
      'bash: eval "$(hstore completion bash)" in ~/.bashrc. zsh: the output as a file _hstore in a folder of $fpath. fish: the output as ~/.config/fish/completions/hstore.fish.',
    ],
    example: 'hstore completion bash > ~/.local/share/bash-completion/completions/hstore',
    args: [['<shell>', 'bash, zsh or fish', ['bash', 'zsh', 'fish']]],
    load: async () => (await import('./verbs/completion.ts')).completion,
  },
]
