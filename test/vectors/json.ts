import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { decodeForm, encodeForm, encodeFormText } from '../../store/canonical.ts'
import { parseJson, toBlockForm } from '../../store/json-input.ts'
import { readBytes, readIndex, verdictOf } from './read-index.ts'

interface JsonCase {
  readonly file?: string
  readonly input?: string
  readonly json?: boolean | null
  readonly hstore: 'accept' | 'reject'
  readonly hstoreInMap?: 'accept' | 'reject'
  readonly hstoreFile: 'accept' | 'reject'
  readonly hstoreFileWhy?: string
  readonly hstoreFileBlock?: 'accept' | 'reject'
  readonly hstoreFileBytes?: string
  readonly normalised?: string
  readonly dagJson?: { readonly normalised?: string }
}

/** The sets json-parsing-suite, json-traps and json-canonical: as a block, inside a map, as an input file. */
export function describeJson(folder: string): void {
  describe.each(['json-parsing-suite', 'json-traps', 'json-canonical'])('%s', (set) => {
    for (const entry of readIndex<JsonCase>(folder, set, 'index.jsonl')) {
      const name = entry.file ?? entry.input ?? ''
      const bytes = readBytes(join(folder, set, name))
      it(`${name} as a block: ${entry.hstore}`, () => {
        expectBlock(bytes, entry.hstore)
        if (entry.hstoreInMap) expectBlock(inMap(bytes), entry.hstoreInMap)
      })
      it(`${name} as a file: ${entry.hstoreFile}, block ${entry.hstoreFileBlock ?? 'reject'}`, () => {
        expectFile(bytes, entry)
      })
    }
  })
}

function expectBlock(bytes: Uint8Array, verdict: 'accept' | 'reject'): void {
  const wanted = verdict === 'accept' ? 'accept' : 'HSTORE_BLOCK_INVALID'
  expect(verdictOf(() => decodeForm(bytes))).toBe(wanted)
  if (verdict === 'accept') expect(encodeForm(decodeForm(bytes).form)).toEqual(bytes)
}

/** A value that has no block form may well be JSON; what is no JSON at all has none either. */
function expectFile(bytes: Uint8Array, entry: JsonCase): void {
  const parsed = verdictOf(() => parseJson(bytes))
  if (entry.json === false) expect(parsed).toBe('HSTORE_JSON_INVALID')
  const deep = entry.hstoreFileWhy?.startsWith('deeper') ?? false
  if (entry.hstoreFile === 'accept' || (entry.json === true && !deep)) expect(parsed).toBe('accept')
  if (entry.hstoreFileBlock !== 'accept') {
    expect(verdictOf(() => toBlockForm(parseJson(bytes)))).not.toBe('accept')
    return
  }
  const stored = entry.hstoreFileBytes ?? entry.normalised ?? entry.dagJson?.normalised
  const text = encodeFormText(toBlockForm(parseJson(bytes)))
  expect(text).toBe(stored ?? new TextDecoder().decode(bytes))
}

function inMap(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.concat([Buffer.from('{"v":'), bytes, Buffer.from('}')]))
}
