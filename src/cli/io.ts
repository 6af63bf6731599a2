/** What a verb may touch of the world outside the store; handed in, so that tests run verbs in process. */
export interface Io {
  /** Writes data to stdout. */
  out(data: string | Uint8Array): void | Promise<void>
  /** Writes talk to stderr. */
  err(text: string): void
  /** Returns all of stdin. */
  stdin(): Promise<Uint8Array>
  /** Asks for a secret on the terminal; undefined where there is none. */
  askSecret(question: string): Promise<string | undefined>
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The name of this machine. */
  readonly machine: string
}

/** Thrown by verbs for a wrong use that the argument parser can't see. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
