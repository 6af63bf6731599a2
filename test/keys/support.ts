import { mkdtemp, rm } from 'node:fs/promises'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { KeyError } from '../../keys/errors.ts'

/** Returns the code of the KeyError that `run` throws, `accepted` when it throws none, or what else was thrown. */
export function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return describeError(error)
  }
  return 'accepted'
}

/** Returns, as `codeOf`, what a promise ends in. */
export async function codeOfPromise(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    return describeError(error)
  }
  return 'accepted'
}

/** Returns the bytes of a hex text. */
export function bytesFromHex(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'))
}

/** Returns a copy with one bit changed. */
export function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const result = bytes.slice()
  result[bit >> 3]! ^= 1 << (bit & 7)
  return result
}

/** Returns a fresh folder that is removed when the test ends. */
export async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hstore-keys-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Returns whether a program can be run here. */
export function hasProgram(name: string, ...args: string[]): boolean {
  return spawnSync(name, args, { stdio: 'ignore' }).error === undefined
}

/** Returns what a program prints; it has to end well. */
export function outputOf(name: string, ...args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(name, args, { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  return stdout
}

function describeError(error: unknown): string {
  if (!(error instanceof KeyError)) return String(error)
  // A message is one line, and never the place where a secret gets out.
  return error.message.includes('\n') ? `message of several lines: ${error.message}` : error.code
}
