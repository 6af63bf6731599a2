import { expect } from 'vitest'
import type { Ran, RunOptions } from './cli.ts'
import type { TestStore } from './store.ts'

/** What a refusal has to look like. */
export interface Refusal {
  readonly exit: number
  /** The stable code; any when absent. */
  readonly code?: string
  /** What the one line has to name. */
  readonly names?: readonly string[]
}

/**
 * Runs a line as text and with `--json` and expects one actionable line, no stack, and nothing on stdout.
 *
 * @returns The error object that `--json` gave.
 */
export async function expectRefused(
  store: TestStore,
  argv: readonly string[],
  wanted: Refusal,
  options: RunOptions = {},
): Promise<Record<string, unknown>> {
  const text = await store.runWith(options, ...argv)
  expectOneLine(argv, text, wanted)
  const asJson = await store.runWith(options, '--json', ...argv)
  expect({ argv, exit: asJson.exit, out: asJson.out }).toEqual({ argv, exit: wanted.exit, out: '' })
  const told = JSON.parse(asJson.err) as Record<string, unknown>
  expect(told).toMatchObject({ schema: 'hstore.error/1' })
  expect(told['code']).toMatch(/^HSTORE_[A-Z_]+$/)
  expect(told['code']).not.toBe('HSTORE_BUG')
  if (wanted.code !== undefined)
    expect({ argv, code: told['code'] }).toEqual({ argv, code: wanted.code })
  expect(typeof told['message']).toBe('string')
  return told
}

function expectOneLine(argv: readonly string[], ran: Ran, { exit, names = [] }: Refusal): void {
  expect({ argv, exit: ran.exit, out: ran.out, err: ran.err }).toEqual({
    argv,
    exit,
    out: '',
    err: expect.stringMatching(/^hstore: [^\n]+\n$/) as string,
  })
  expect(ran.err).not.toMatch(/\bat .*\.(?:js|ts):\d+|TypeError|undefined|fault of hstore|\[object/)
  for (const name of names) expect(ran.err).toContain(name)
}
