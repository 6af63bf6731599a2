import type { VerbRow, VerbSpec } from '../verb-table.ts'

/** What may stand in a place: a path, a word of a fixed list, or text that nothing is known of. */
export type Wanted = 'file' | 'folder' | 'text' | readonly string[]

/** An option as a shell sees it. */
export interface PlacedOption {
  /** As they are typed, the short one first: `-h`, `--help`. */
  readonly names: readonly string[]
  readonly description: string
  /** Absent for a flag. */
  readonly value?: Value
}

/** What an option or an argument takes. */
export interface Value {
  readonly name: string
  readonly wanted: Wanted
  readonly isMany: boolean
}

/** A verb, or the place before any: what can be typed there. */
export interface Place {
  /** The verb's words, empty before any. */
  readonly path: readonly string[]
  readonly verbs: readonly { readonly name: string; readonly summary: string }[]
  readonly options: readonly PlacedOption[]
  readonly args: readonly Value[]
}

const helpVerb = { name: 'help', summary: 'Show the help of a verb' }

/** The options that every verb takes without a row of its own. */
export const helpOption: PlacedOption = {
  names: ['-h', '--help'],
  description: 'show the help of the verb',
}

/** Returns every place of the command line, the one before any verb first. Its own options go with all others too. */
export function placesOf(
  verbs: readonly VerbSpec[],
  globalOptions: readonly VerbRow[],
): readonly Place[] {
  const top: Place = {
    path: [],
    verbs: [...verbs, helpVerb].map(({ name, summary }) => ({ name, summary })),
    options: globalOptions.map(optionOf),
    args: [],
  }
  return [top, ...verbs.flatMap((spec) => placesBelow([spec.name], spec))]
}

function placesBelow(path: readonly string[], spec: VerbSpec): readonly Place[] {
  const { verbs = [], options = [], args = [] } = spec
  const place: Place = {
    path,
    verbs: verbs.map(({ name, summary }) => ({ name, summary })),
    options: options.map(optionOf),
    args: args.map(([name, , choices]) => valueOf(name, choices)),
  }
  return [place, ...verbs.flatMap((child) => placesBelow([...path, child.name], child))]
}

/** Returns an option out of its row: `--parent <cid...>` has the name `--parent` and a value that is many. */
export function optionOf([flags, description, choices]: VerbRow): PlacedOption {
  const [words = '', value] = flags.split(/ (?=[<[])/)
  const names = words.split(/[ ,|]+/)
  return value === undefined
    ? { names, description }
    : { names, description, value: valueOf(value, choices) }
}

function valueOf(written: string, choices: readonly string[] | undefined): Value {
  const isMany = written.includes('...')
  const name = written.replaceAll(/[<>[\]]|\.\.\./g, '')
  const [first] = name.split('|')
  return { name, isMany, wanted: choices ?? wantedOf(first) }
}

function wantedOf(name: string | undefined): Wanted {
  return name === 'file' ? 'file' : name === 'dir' ? 'folder' : 'text'
}

/** Returns text as one word of bash and zsh, in which nothing is expanded. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
