import type { VerbSpec } from './verb-spec.ts'

/** The verbs that take a history from one store to another. */
export const syncVerbs: readonly VerbSpec[] = [
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
