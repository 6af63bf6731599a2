import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { CID } from 'multiformats/cid'
import { describe, expect, it } from 'vitest'
import { decodeForm, encodeForm } from '../../store/canonical.ts'
import { cidOf, parseCid } from '../../store/cid.ts'
import { decodeBlock, encodeBlock } from '../../store/codec.ts'
import { readBytes, readIndex, verdictOf } from './read-index.ts'

/** Sets of blocks and of texts inside blocks. */
export function describeCodec(folder: string): void {
  describeFixtures(join(folder, 'ipld-codec-fixtures'))
  describeDagJose(join(folder, 'dag-jose'))
  describeDataModel(join(folder, 'atproto', 'data-model'))
  describeUtf8(join(folder, 'utf8'))
  describeNormalization(join(folder, 'unicode-normalization'))
  describeNaughtyStrings(join(folder, 'naughty-strings'))
}

interface FixtureCase {
  readonly fixture: string
  readonly file: string
  readonly 'dag-json': string
  readonly hstore: 'accept' | 'reject'
  readonly hstoreInMap?: 'accept' | 'reject'
}

function describeFixtures(folder: string): void {
  describe('ipld-codec-fixtures', () => {
    for (const entry of readIndex<FixtureCase>(folder, 'index.jsonl')) {
      it(`${entry.fixture}: ${entry.hstore}, in a map ${entry.hstoreInMap ?? entry.hstore}`, () => {
        const bytes = readBytes(folder, entry.file)
        expect(cidOf(bytes, 'dag-json').toString()).toBe(entry['dag-json'])
        expectBlock(bytes, entry.hstore)
        if (entry.hstoreInMap) expectBlock(inMap(bytes), entry.hstoreInMap)
      })
    }
    for (const codec of ['dag-cbor', 'dag-pb']) {
      it.each(readdirSync(join(folder, codec)))(`${codec}/%s is no block`, (file) => {
        expect(verdictOf(() => decodeBlock(readBytes(folder, codec, file)))).toBe(
          'HSTORE_BLOCK_INVALID',
        )
        expect(verdictOf(() => parseCid(file.replace(/\..*$/, '')))).toBe('HSTORE_CID_INVALID')
      })
    }
    it.each(readdirSync(join(folder, 'negative')))('negative/%s', (file) => {
      for (const { hex } of readJson(folder, 'negative', file) as { hex: string }[]) {
        expect(verdictOf(() => decodeBlock(Buffer.from(hex, 'hex')))).toBe('HSTORE_BLOCK_INVALID')
      }
    })
  })
}

function describeDagJose(folder: string): void {
  describe('dag-jose', () => {
    for (const { name, cid, hex } of readJson(folder, 'fixtures.json') as {
      name: string
      cid: string
      hex: string
    }[]) {
      it(`${name} is another codec`, () => {
        const bytes = Buffer.from(hex, 'hex')
        expect(verdictOf(() => parseCid(cid))).toBe('HSTORE_CID_INVALID')
        expect(verdictOf(() => encodeBlock({ link: CID.parse(cid) }))).toBe('HSTORE_BLOCK_INVALID')
        expect(verdictOf(() => decodeBlock(bytes))).toBe('HSTORE_BLOCK_INVALID')
        expect(cidOf(bytes, 'raw').multihash.bytes).toEqual(CID.parse(cid).multihash.bytes)
      })
    }
  })
}

function describeDataModel(folder: string): void {
  describe('atproto/data-model', () => {
    it.each(readJson(folder, 'data-model-fixtures.json') as { json: unknown; cid: string }[])(
      '$cid has another codec, its links decide on a block',
      ({ json, cid }) => {
        expect(verdictOf(() => parseCid(cid))).toBe('HSTORE_CID_INVALID')
        const wanted = JSON.stringify(json).includes('"bafyrei') ? 'HSTORE_BLOCK_INVALID' : 'accept'
        expect(verdictOf(() => encodeBlock(reviveDollars(json)))).toBe(wanted)
      },
    )
    it.each(readJson(folder, 'data-model-valid.json') as { note: string; json: object }[])(
      'valid: $note',
      ({ json }) => {
        expect(decodeBlock(encodeBlock(json))).toEqual(json)
      },
    )
    // The other notes speak of records and blobs of that protocol, which are maps like any other here.
    const notes = readJson(folder, 'data-model-invalid.json') as { note: string; json: unknown }[]
    it.each(notes.filter(({ note }) => note === 'float' || note === 'top-level not an object'))(
      'invalid: $note',
      ({ json }) => {
        expect(verdictOf(() => encodeBlock(json))).toBe('HSTORE_BLOCK_INVALID')
      },
    )
  })
}

function describeUtf8(folder: string): void {
  const line = /^([\d.]+):\s*(valid|invalid)( hex)?:([^:]*)/
  describe('utf8', () => {
    for (const text of readFileSync(join(folder, 'utf8tests.txt'), 'utf8').split('\n')) {
      const [, number = '', verdict, hex, content = ''] = line.exec(text) ?? []
      if (verdict === undefined) continue
      it(`${number} ${verdict}`, () => {
        const inner = hex ? Buffer.from(content.replaceAll(' ', ''), 'hex') : Buffer.from(content)
        const bytes = inMap(Buffer.concat([Buffer.from('"'), inner, Buffer.from('"')]))
        const escapes = inner.some((byte) => byte < 0x20 || byte === 0x22 || byte === 0x5c)
        expectBlock(bytes, verdict === 'valid' && !escapes ? 'accept' : 'reject')
      })
    }
  })
}

function describeNormalization(folder: string): void {
  describe('unicode-normalization', () => {
    const text = readFileSync(join(folder, 'NormalizationTest.subset.txt'), 'utf8')
    for (const line of text.split('\n').filter((entry) => entry.startsWith('@'))) {
      const [source = '', nfc = '', nfd = ''] = line.split(';').slice(1, 4).map(fromHex)
      it(`${line.split('#')[0] ?? ''} keeps its bytes`, () => {
        const value = { source, [`nfc${nfc}`]: nfc, [`nfd${nfd}`]: nfd }
        const bytes = encodeBlock(value)
        expect(decodeBlock(bytes)).toEqual(value)
        expect(Buffer.from(bytes).includes(`"source":"${source}"`)).toBe(true)
        const keys = Object.keys(decodeBlock(encodeBlock({ [nfc]: 1, [nfd]: 2 })) as object)
        expect(keys).toHaveLength(nfc === nfd ? 1 : 2)
      })
    }
  })
}

function describeNaughtyStrings(folder: string): void {
  describe('naughty-strings', () => {
    const strings = readJson(folder, 'blns.base64.json') as string[]
    strings.forEach((base64, index) => {
      it(`string ${index} comes back`, () => {
        const text = Buffer.from(base64, 'base64').toString('utf8')
        const value = { [`key ${text}`]: [text] }
        expect(decodeBlock(encodeBlock(value))).toEqual(value)
        if (text === '/') return
        const keyed = Object.fromEntries([[text, index]])
        expect(Object.entries(decodeBlock(encodeBlock(keyed)) as object)).toEqual([[text, index]])
      })
    })
  })
}

function expectBlock(bytes: Uint8Array, verdict: 'accept' | 'reject'): void {
  const wanted = verdict === 'accept' ? 'accept' : 'HSTORE_BLOCK_INVALID'
  expect(verdictOf(() => decodeBlock(bytes))).toBe(wanted)
  if (verdict === 'reject') return
  expect(encodeBlock(decodeBlock(bytes))).toEqual(bytes)
  expect(encodeForm(decodeForm(bytes).form)).toEqual(bytes)
}

function inMap(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(Buffer.concat([Buffer.from('{"v":'), bytes, Buffer.from('}')]))
}

function readJson(...path: readonly string[]): unknown {
  return JSON.parse(readFileSync(join(...path), 'utf8'))
}

function fromHex(points: string): string {
  return points
    .split(' ')
    .map((point) => String.fromCodePoint(Number.parseInt(point, 16)))
    .join('')
}

/** The JSON of atproto spells links and bytes `{"$link": …}` and `{"$bytes": …}`. */
function reviveDollars(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(reviveDollars)
  if (typeof json !== 'object' || json === null) return json
  const entries = Object.entries(json)
  const [key, value] = entries[0] ?? []
  if (key === '$link') return CID.parse(String(value))
  if (key === '$bytes') return new Uint8Array(Buffer.from(String(value), 'base64'))
  return Object.fromEntries(entries.map(([name, entry]) => [name, reviveDollars(entry)]))
}
