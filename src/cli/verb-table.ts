import type { Verb } from './program.ts'

/** One verb: what help, parsing and the docs say of it, and the file that does it. */
export interface VerbSpec {
  readonly name: string
  readonly summary: string
  readonly example: string
  readonly args?: readonly (readonly [name: string, description: string])[]
  readonly options?: readonly (readonly [flags: string, description: string])[]
  readonly verbs?: readonly VerbSpec[]
  readonly load?: () => Promise<Verb>
}

/** Options that every verb takes. */
export const globalOptions: readonly (readonly [string, string])[] = [
  ['--store <dir>', 'the store (HSTORE_STORE; else the nearest .hstore upward)'],
  ['--keys <dir>', 'the folder of keys (HSTORE_KEYS)'],
  ['--as <agent>', 'who acts (HSTORE_AGENT; else the agent that made the store)'],
  ['--json', 'print one JSON object'],
  ['--wait <seconds>', 'how long to wait for another process (30)'],
  ['--genesis <cid>', 'accept the store with this genesis'],
  ['--passphrase-file <file>', 'read the passphrase from a file (else HSTORE_PASSPHRASE)'],
]

const agent = ['<agent>', 'the agent, as the roster knows it'] as const
const ref = ['<ref>', 'a CID, a stream with one head, or a revision'] as const
const noPassphrase = [
  '--no-passphrase',
  'leave the key file unencrypted, for unattended agents',
] as const

/** All verbs, in the order of help. */
export const verbs: readonly VerbSpec[] = [
  {
    name: 'init',
    summary: 'Make a store with this agent as its root',
    example: 'hstore init --as csag:agent/merger --no-passphrase',
    options: [noPassphrase],
    load: async () => (await import('./verbs/init.ts')).init,
  },
  {
    name: 'key',
    summary: "Manage this machine's keys, one for each agent",
    example: 'hstore key new csag:agent/agent-a',
    verbs: [
      {
        name: 'new',
        summary: 'Make a key for an agent',
        example: 'hstore key new csag:agent/agent-a --no-passphrase',
        args: [agent],
        options: [noPassphrase],
        load: async () => (await import('./verbs/key.ts')).keyNew,
      },
      {
        name: 'list',
        summary: 'List the keys',
        example: 'hstore key list',
        load: async () => (await import('./verbs/key.ts')).keyList,
      },
      {
        name: 'show',
        summary: "Show an agent's key",
        example: 'hstore key show csag:agent/agent-a',
        args: [agent],
        load: async () => (await import('./verbs/key.ts')).keyShow,
      },
      {
        name: 'import',
        summary: 'Take over a private key in OpenSSH, PEM (PKCS#8) or JWK form',
        example: 'hstore key import csag:agent/agent-a ~/.ssh/id_ed25519',
        args: [agent, ['<file>', 'the private key, or - for stdin']],
        options: [noPassphrase],
        load: async () => (await import('./verbs/key.ts')).keyImport,
      },
      {
        name: 'export',
        summary: 'Print a key',
        example: 'hstore key export csag:agent/agent-a > agent-a.pub',
        args: [agent],
        options: [
          ['--format <format>', 'openssh, pem, jwk or did'],
          ['--secret', 'print the private key, unencrypted'],
        ],
        load: async () => (await import('./verbs/key.ts')).keyExport,
      },
    ],
  },
  {
    name: 'put',
    summary: 'Check, take in and sign envelopes; print their CIDs',
    example: 'hstore put handoff.json --as csag:agent/merger',
    args: [['<file...>', 'envelopes, or - for stdin']],
    options: [
      ['--bundle <dir>', "where the envelope's files are (else its own folder)"],
      ['--shallow', 'go on without the parents that the store does not hold'],
      ['--parent <cid...>', 'follow this parent, though it has children already'],
    ],
    load: async () => (await import('./verbs/put.ts')).put,
  },
  {
    name: 'get',
    summary: 'Print what a REF names',
    example: 'hstore get baguqeera… > body.json',
    args: [ref],
    options: [
      ['--entry', "print the entry's block"],
      ['--original', 'print the file as it was given'],
      ['--out <dir>', 'lay out the bundle in a new folder'],
    ],
    load: async () => (await import('./verbs/get.ts')).get,
  },
  {
    name: 'verify',
    summary: 'Check hashes, signatures and trust',
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
    summary: "Judge an envelope by its contract's rules",
    example: 'hstore validate handoff.json --profile handoff --report-out report.json',
    args: [['<file|ref>', 'an envelope, - for stdin, or a REF']],
    options: [
      ['--profile <profile>', 'handoff'],
      ['--report-out <file>', 'write the report here'],
      ['--bundle <dir>', "where the envelope's files are (else its own folder)"],
    ],
    load: async () => (await import('./verbs/validate.ts')).validate,
  },
  {
    name: 'resume',
    summary: 'Ask the gate whether to go on from a handoff, and what to do next',
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
    summary: 'List an entry and its ancestors',
    example: 'hstore log csag:handoff/lite',
    args: [ref],
    options: [['-n <count>', 'how many at most']],
    load: async () => (await import('./verbs/log.ts')).log,
  },
  {
    name: 'show',
    summary: 'Show an entry and its document',
    example: 'hstore show baguqeera…',
    args: [ref],
    load: async () => (await import('./verbs/show.ts')).show,
  },
  {
    name: 'heads',
    summary: 'List the heads of all streams',
    example: 'hstore heads',
    load: async () => (await import('./verbs/heads.ts')).heads,
  },
  {
    name: 'roster',
    summary: 'Show or change who is trusted',
    example: 'hstore roster add csag:agent/agent-a did:key:z6Mk…',
    verbs: [
      {
        name: 'show',
        summary: 'Show the highest accepted roster',
        example: 'hstore roster show',
        load: async () => (await import('./verbs/roster.ts')).rosterShow,
      },
      {
        name: 'add',
        summary: "Trust an agent's key; the acting agent has to be the root",
        example: 'hstore roster add csag:agent/agent-a did:key:z6Mk… --machine laptop',
        args: [agent, ['<did>', 'the did:key of the agent, as hstore key show prints it']],
        options: [['--machine <name>', 'the machine that the key is on']],
        load: async () => (await import('./verbs/roster.ts')).rosterAdd,
      },
    ],
  },
]
