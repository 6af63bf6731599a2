import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRecords } from './level-log.ts'

/** How many fields of what kind follow each tag: `n` a number, `t` a text with its length before it. */
const fieldsOf: Readonly<Record<number, string>> = {
  1: 't', // the comparator's name
  2: 'n', // the number of the log
  3: 'n', // the next number for a file
  4: 'n', // the last sequence number
  5: 'nt', // where to compact next: level, key
  6: 'nn', // a table that goes: level, number
  7: 'nnntt', // a table that comes: level, number, size, smallest and largest key
  9: 'n', // the number of the log before
}
const goes = 6
const comes = 7

/**
 * Returns which files of a database are tables that its MANIFEST does not name: LevelDB deletes them when it opens, or
 * writes over them. None where there is no MANIFEST to read: LevelDB does not open then.
 */
export function findUnnamedTables(
  databasePath: string,
  names: readonly string[],
): readonly string[] {
  const tables = names.filter((name) => /\.(?:ldb|sst)$/.test(name))
  if (tables.length === 0) return []
  const manifest = findManifest(databasePath)
  if (manifest === undefined) return []
  const named = tablesNamedIn(manifest.bytes)
  return tables.filter((name) => !named.has(Number.parseInt(name, 10)))
}

/** Returns the MANIFEST that a database goes by; undefined where there is none to read. */
export function findManifest(
  databasePath: string,
): { readonly name: string; readonly bytes: Uint8Array } | undefined {
  try {
    const name = readFileSync(join(databasePath, 'CURRENT'), 'latin1').trim()
    if (!/^MANIFEST-\d+$/.test(name)) return undefined
    return { name, bytes: readFileSync(join(databasePath, name)) }
  } catch {
    return undefined
  }
}

/** Returns the numbers of the tables that a MANIFEST of LevelDB names in the end, as far as it can be read. */
function tablesNamedIn(manifest: Uint8Array): ReadonlySet<number> {
  const tables = new Set<number>()
  for (const record of readRecords(manifest)) {
    const reader = new FieldReader(record)
    while (reader.isOpen) {
      const tag = reader.number()
      const numbers: number[] = []
      for (const kind of fieldsOf[tag] ?? 'x') {
        if (kind === 'n') numbers.push(reader.number())
        else if (kind === 't') reader.skipText()
        else return tables
      }
      if (tag === comes) tables.add(numbers[1]!)
      else if (tag === goes) tables.delete(numbers[1]!)
    }
  }
  return tables
}

/** Numbers stand in pieces of 7 bits, the lowest first; the highest bit of a byte says that more follow. */
class FieldReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  get isOpen(): boolean {
    return this.#at < this.#bytes.length
  }

  number(): number {
    let value = 0
    for (let scale = 1; this.isOpen; scale *= 128) {
      const byte = this.#bytes[this.#at++]!
      value += (byte & 127) * scale
      if (byte < 128) break
    }
    return value
  }

  skipText(): void {
    const length = this.number()
    this.#at += length
  }
}
