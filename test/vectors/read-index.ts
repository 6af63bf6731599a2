import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the bytes of a file of a set, as a plain array. */
export function readBytes(...path: readonly string[]): Uint8Array {
  return new Uint8Array(readFileSync(join(...path)))
}

/** Returns the cases of a set's index, one JSON object a line. */
export function readIndex<Case>(...path: readonly string[]): Case[] {
  return readFileSync(join(...path), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Case)
}

/** Returns `accept`, or the stable code of the refusal; whatever else is thrown goes on. */
export function verdictOf(run: () => unknown): string {
  try {
    run()
    return 'accept'
  } catch (error) {
    return codeOf(error)
  }
}

/** Returns the stable code of an error that hstore throws on purpose, and throws all others on. */
export function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('HSTORE_')) {
    return String(error.code)
  }
  throw error
}
