import type { Verb } from './program.ts'

/** An option or argument: how it is written, what it does, and the words that it takes where they are fixed. */
export type VerbRow = readonly [name: string, description: string, choices?: readonly string[]]

/** One verb: what help, man pages, completion and the docs say of it, and the file that does it. */
export interface VerbSpec {
  readonly name: string
  /** Where `hstore --help` lists the verb; under «More» when absent. */
  readonly group?: 'Set up' | 'Hand over' | 'Look' | 'Check' | 'Sync' | 'Upkeep'
  /** One line without a full stop. */
  readonly summary: string
  /** Paragraphs that follow the summary in the verb's own help and man page. */
  readonly more?: readonly string[]
  readonly example: string
  /** `<file…>` and `<dir>` are completed as such. */
  readonly args?: readonly VerbRow[]
  readonly options?: readonly VerbRow[]
  readonly verbs?: readonly VerbSpec[]
  readonly load?: () => Promise<Verb>
}
