/** Facts that go with an error into its JSON form, under their own keys. */
export type ErrorDetails = Readonly<Record<string, unknown>>

/**
 * Base of everything that hstore throws on purpose.
 *
 * `code` is stable within a major version and listed in docs/cli.md; `message` is one line for a person (what, where,
 * what to do) and free to change; `cause` is kept as the object it was.
 */
export class HstoreError<Code extends string = string> extends Error {
  override readonly name: string = 'HstoreError'
  readonly code: Code
  readonly details: ErrorDetails

  constructor(
    code: Code,
    message: string,
    options: { readonly cause?: unknown; readonly details?: ErrorDetails } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options.details ?? {}
  }
}

/** An argument of the wrong type at one of the public doors: a caller's mistake, with a code so that all are alike. */
export class ArgumentError extends HstoreError<'HSTORE_ARGUMENT_INVALID'> {
  override readonly name = 'ArgumentError'

  /** @param message - The argument's name, what was wanted and what came. */
  constructor(message: string) {
    super('HSTORE_ARGUMENT_INVALID', message)
  }
}

/** Throws `HSTORE_ARGUMENT_INVALID` when a public door is given another type than it asks for. */
export function assertArgument(
  name: string,
  value: unknown,
  wanted: 'number' | 'object' | 'string',
): void {
  if (typeof value === wanted && value !== null) return
  const got = value === null ? 'null' : typeof value
  throw new ArgumentError(
    `${name}: wanted ${wanted === 'object' ? 'an' : 'a'} ${wanted}, got ${got}`,
  )
}

/** Throws `HSTORE_ARGUMENT_INVALID` when a public door is given something else than bytes. */
export function assertBytes(name: string, value: unknown): void {
  if (!(value instanceof Uint8Array)) throw new ArgumentError(`${name}: wanted a Uint8Array`)
}
