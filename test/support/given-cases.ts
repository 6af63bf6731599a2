import { readFileSync } from 'node:fs'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** Where the cases and the vectors that they build on lie. */
export interface Given {
  readonly cases: string
  readonly vectors: string
}

/** A change of an envelope as a case gives it; the format is that of the cases' README. */
interface Replace {
  /** The envelope, below the folder that holds `vectors/`. */
  readonly base: string
  /** A text that occurs once. */
  readonly from: string
  readonly to: string
}

/** Returns the bytes of a case's file. */
export function bytesIn({ cases }: Given, ...names: readonly string[]): Uint8Array {
  return new Uint8Array(readFileSync(path.join(cases, ...names)))
}

/** Returns the value of a case's JSON file. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what the file holds
export function valueIn<T = unknown>(given: Given, ...names: readonly string[]): T {
  return JSON.parse(Buffer.from(bytesIn(given, ...names)).toString()) as T
}

/** Lays out the bundle that a case's replace.json speaks of, changed as it says; returns the envelope's path. */
export async function replaced(given: Given, id: string, to: string): Promise<string> {
  const { base, from, to: by } = valueIn<Replace>(given, id, 'replace.json')
  const source = path.resolve(given.vectors, '..', base)
  const text = readFileSync(source, 'utf8')
  if (text.split(from).length !== 2) throw new Error(`${id}: "from" does not occur once`)
  await mkdir(to, { recursive: true })
  await cp(path.dirname(source), to, { recursive: true })
  const file = path.join(to, 'changed.json')
  await writeFile(
    file,
    text.replace(from, () => by),
    { mode: 0o600 },
  )
  return file
}

/** The worked bundle that the cases start from: its folder, and the envelope in it. */
export function workedBundle({ vectors }: Given): {
  readonly folder: string
  readonly envelope: string
} {
  const folder = path.join(vectors, 'csag', 'two_agent')
  return { folder, envelope: path.join(folder, 'two_agent_handoff.valid.json') }
}
