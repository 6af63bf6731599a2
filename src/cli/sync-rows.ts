import type { VerbSpec } from './verb-spec.ts'

/** The verbs that take a history from one store to another. */
export const syncVerbs: readonly VerbSpec[] = [
  {
    name: 'clone',
    group: 'Sync',
    summary: 'Make a store out of another, a remote or a CAR file',
    more: [
      'The store is made in .hstore, or where --store says, and remembers its source as the remote origin, unless that is a CAR file. --genesis names the store that is meant, as its owner told it; on a terminal the genesis is shown and asked for. Needs no key.',
      'Cut short, it is completed by hstore sync, or by the same clone again.',
    ],
    example: 'hstore clone ../other/.hstore --genesis baguqeera…',
    args: [['<source>', 'a folder, an address or a CAR file']],
    load: async () => (await import('./verbs/clone.ts')).clone,
  },
  {
    name: 'remote',
    group: 'Sync',
    summary: 'Name other copies of the store',
    example: 'hstore remote add origin /mnt/usb/tide-gauge',
    verbs: [
      {
        name: 'list',
        summary: 'List the remotes',
        example: 'hstore remote list',
        load: async () => (await import('./verbs/remote.ts')).remoteList,
      },
      {
        name: 'add',
        summary: 'Name a remote; nobody is contacted',
        example: 'hstore remote add origin /mnt/usb/tide-gauge',
        args: [
          ['<name>', 'letters, digits, dots, - and _'],
          ['<url>', 'a folder or an address'],
        ],
        load: async () => (await import('./verbs/remote.ts')).remoteAdd,
      },
      {
        name: 'remove',
        summary: 'Forget a remote',
        example: 'hstore remote remove origin',
        args: [['<name>', 'the remote']],
        load: async () => (await import('./verbs/remote.ts')).remoteRemove,
      },
    ],
  },
  {
    name: 'sync',
    group: 'Sync',
    summary: 'Exchange entries with a remote, both ways',
    more: [
      'Without a remote, the only one, or origin. What comes is judged as verify does before it is stored; what has no right is named and asked for again when the roster changes. Cut short, the next sync goes on.',
      'Ends with 9 when the remote can not be reached, does not keep to the protocol, or has lost what it had.',
    ],
    example: 'hstore sync origin',
    args: [['[remote]', 'a name, a folder or an address']],
    options: [
      ['--pull', 'only fetch'],
      ['--push', 'only send'],
      ['--stream <stream>', 'this stream alone, with the rosters'],
      ['--dry-run', 'say what would go over, and change nothing'],
    ],
    load: async () => (await import('./verbs/sync.ts')).sync,
  },
  {
    name: 'serve',
    group: 'Sync',
    summary: 'Answer clients that sync, and quicken the verbs of this user',
    more: [
      'With --stdio, one client over standard input and output, with the rights of the account: what ssh:// starts on the other machine. The store is opened for each request, so that others get in between.',
      'With --listen, over HTTP until it is told to end: each request is signed with a key of the roster, and gets what its agent may read and write. Prints the address once it listens.',
      'Unless --stdio is given, it also does put, get, resume, may-act and other verbs for processes of its own user that have the same folder of keys, over a local socket: they answer the same, sooner. Without --listen it does nothing else, and prints the path of the socket.',
    ],
    example: 'hstore serve --listen 127.0.0.1:8017',
    options: [
      ['--stdio', 'over standard input and output'],
      ['--listen <address>', 'over HTTP, on HOST:PORT'],
      ['--tls-cert <file>', 'the certificate chain, in PEM'],
      ['--tls-key <file>', 'its key, in PEM'],
      ['--public <pattern...>', 'let anybody read these streams'],
    ],
    load: async () => (await import('./verbs/serve.ts')).serve,
  },
  {
    name: 'watch',
    group: 'Sync',
    summary: 'Print new heads as they arrive, one JSON object a line',
    more: [
      'Goes on until it is told to end. The store is opened when something was added, never while nothing happens.',
    ],
    example: 'hstore watch --stream csag:csag:handoff/lite',
    options: [['--stream <stream>', 'the heads of this stream alone']],
    load: async () => (await import('./verbs/watch.ts')).watch,
  },
  {
    name: 'export',
    group: 'Sync',
    summary: 'Write entries with all that they rest on into a CAR file',
    more: [
      'Without a REF, the whole store; the rosters always go along. Equal entries give equal bytes. The file is synced to disk when the verb ends, and nothing that is there is overwritten.',
    ],
    example: 'hstore export all.car',
    args: [
      ['<file>', 'a new file, or - for stdout'],
      ['[ref...]', 'entries or streams'],
    ],
    load: async () => (await import('./verbs/export.ts')).exportVerb,
  },
  {
    name: 'import',
    group: 'Sync',
    summary: 'Take in a CAR file that export made',
    more: [
      'The file is read to its end, hashed and judged before any of it is in the store. One that is cut, altered or of another store changes nothing.',
      'Ends with 4 when it is of another store, or when entries in it have no right under the roster (the others are taken in), with 5 when it is refused.',
    ],
    example: 'hstore import all.car',
    args: [['<file>', 'a CAR, or - for stdin']],
    load: async () => (await import('./verbs/import.ts')).importVerb,
  },
]
