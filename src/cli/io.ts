import type { ContextOptions } from '../context.ts'

/** The terminal that stdout is. */
export interface Terminal {
  /** How wide it is, in characters. */
  readonly columns: number
  /**
   * Shows text through a pager and returns once the reader has left it; false when it could not be started. What the
   * reader did not look at is no fault.
   *
   * @param command - As a shell takes it.
   */
  page(command: string, env: Io['env'], text: string): Promise<boolean>
}

/** What a verb may touch of the world outside the store; handed in, so that tests run verbs in process. */
export interface Io {
  /** Writes data to stdout. */
  out(data: string | Uint8Array): void | Promise<void>
  /** Whether stdout was closed before all of it was taken; absent where it can't be. */
  isCutOff?(): boolean
  /** Writes talk to stderr. */
  err(text: string): void
  /** Returns all of stdin. */
  stdin(): Promise<Uint8Array>
  /** Yields stdin as it comes; absent where all of it is at hand. */
  stdinChunks?(): AsyncIterable<Uint8Array>
  /** Asks for a secret on the terminal; undefined where there is none. */
  askSecret(question: string): Promise<string | undefined>
  /** Asks a question on the terminal; undefined where there is none. */
  ask(question: string): Promise<string | undefined>
  /** Absent where stdout is no terminal. */
  readonly terminal?: Terminal | undefined
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The name of this machine. */
  readonly machine: string
  /** Opens the databases of stores; absent where each is opened anew. */
  readonly openDatabase?: ContextOptions['open']
  /** Says that a whole history is going to be read. Absent where others are served meanwhile. */
  readsHistory?(): void
  /** Which build this is; absent where nothing tells. */
  readonly build?: string | undefined
  /** Whether an error is not told but thrown on: the verb is left to the process that it is done for. */
  leaves?(error: unknown): boolean
  /** Throws where a descriptor of the caller can't be read. */
  assertDescriptor?(): void
  /** Throws where a folder of keys may not be used. */
  assertKeys?(folder: string): void
}

/** Thrown by verbs for a wrong use that the argument parser can't see. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
