import * as fc from 'fast-check'
import { createHash } from 'node:crypto'
import { cp, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { ScannedBlock } from '../../store/block-store.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { openDatabase } from '../../store/database.ts'
import { dictionary1 } from '../../store/dictionary-1.ts'
import { packBlock, unpackBlock } from '../../store/packed-block.ts'
import { encodeVarint } from '../../store/varint.ts'
import { rebuildDatabase } from '../../store/rebuild.ts'
import { filesIn, withLevel } from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const limit = 2 * 1024 * 1024
const encoder = new TextEncoder()
const plain = encoder.encode(
  JSON.stringify({
    actions: Array.from({ length: 20 }, (_, i) => ({
      action_status: 'completed',
      created_by: 'csag:agent/a',
      description: `step ${i * 7919} of ${i * 104729}`,
    })),
  }),
)
const cid = cidTextOf(plain, 'dag-json')
const packed = packBlock(cid, plain)

/** A stored value put together by hand. */
function valueOf(stream: Uint8Array, length: number, dictionary = 1): Uint8Array {
  return Uint8Array.of(dictionary, ...encodeVarint(length), ...stream)
}

const streamOf = (bytes: Uint8Array, level = 6): Uint8Array =>
  deflateRawSync(bytes, { level, dictionary: dictionary1 })

describe('dictionary 1', () => {
  it('is never changed: what is stored can be read with it alone', () => {
    expect(createHash('sha256').update(dictionary1).digest('hex')).toBe(
      '8852139dc25d40522310d342ccde839bf16f76065a62ecc5a627ae80a74b7364',
    )
  })
})

describe('packBlock', () => {
  it('makes blocks smaller, which come back as they were', () => {
    expect(packed.length).toBeLessThan(plain.length / 3)
    expect(packed[0]).toBe(1)
    expect(unpackBlock(cid, packed)).toStrictEqual(plain)
  })

  it('leaves alone what is small, raw, random or swollen', () => {
    const random = createHash('shake256', { outputLength: 4000 }).update('x').digest('hex')
    const texts = ['{"a":1}', `{"a":"${random}"}`, `{"a":"${'a'.repeat(100_000)}"}`]
    for (const bytes of texts.map((text) => encoder.encode(text))) {
      const cid = cidTextOf(bytes, 'dag-json')
      const value = packBlock(cid, bytes)
      expect(unpackBlock(cid, value)).toStrictEqual(bytes)
      if (!value.subarray(0, 1).every((byte) => byte === 1)) expect(value).toBe(bytes)
    }
    expect(packBlock(cidTextOf(plain, 'raw'), plain)).toBe(plain)
    expect(packBlock(cid, encoder.encode(texts[2]))[0]).toBe(0x7b)
  })

  it('gives back any block, of either codec, whatever it begins with', () => {
    const long = fc.uint8Array({ maxLength: 5000 })
    const texts = fc.array(fc.constantFrom('"id":"', 'csag:agent/', 'é', '😀', '0', '\\u0000'), {
      minLength: 100,
      maxLength: 2000,
    })
    fc.assert(
      fc.property(long, texts, (bytes, words) => {
        const json = encoder.encode(`{"a":"${words.join('')}"}`)
        const jsonCid = cidTextOf(json, 'dag-json')
        expect(unpackBlock(jsonCid, packBlock(jsonCid, json))).toStrictEqual(json)
        const rawCid = cidTextOf(bytes, 'raw')
        expect(unpackBlock(rawCid, packBlock(rawCid, bytes))).toStrictEqual(bytes)
      }),
    )
  })
})

const bomb = deflateRawSync(new Uint8Array(64 * 1024 * 1024))
const hostile: readonly (readonly [string, Uint8Array])[] = [
  ['an empty stream', valueOf(new Uint8Array(), plain.length)],
  ['a tag alone', Uint8Array.of(1)],
  ['a length that does not end', Uint8Array.of(1, 255, 255, 255, 255, 255, 255, 255, 255)],
  ['a length longer than needed', Uint8Array.of(1, 0x80, 0x00, 3, 0)],
  ['a stream that was cut', packed.subarray(0, -3)],
  ['a stream with one byte behind it', Uint8Array.of(...packed, 0)],
  ['a stream with a second one behind it', Uint8Array.of(...packed, ...packed.subarray(3))],
  ['a length of one less', valueOf(streamOf(plain), plain.length - 1)],
  ['a length of one more', valueOf(streamOf(plain), plain.length + 1)],
  ['a length of nothing', valueOf(streamOf(plain), 0)],
  ['a bomb that says so', valueOf(bomb, 64 * 1024 * 1024)],
  ['a bomb that says less', valueOf(bomb, limit)],
  ['a small bomb', valueOf(deflateRawSync(new Uint8Array(limit)), limit)],
  ['bytes that are no stream', valueOf(createHash('sha512').update('x').digest(), 100)],
]
const others: readonly (readonly [string, Uint8Array])[] = [
  ['a dictionary of a later version', valueOf(streamOf(plain), plain.length, 2)],
  [
    'a stream made without the dictionary',
    valueOf(deflateRawSync(plain.subarray(1)), plain.length - 1),
  ],
  ['the stream of another block', valueOf(streamOf(encoder.encode(`{"b":2}`)), 7)],
]

describe('unpackBlock', () => {
  it.each(hostile)('takes %s for damage', (_, value) => {
    expect(unpackBlock(cid, value)).toBeUndefined()
  })

  it('gives bytes of which no change of a packed block makes another block', () => {
    fc.assert(
      fc.property(fc.nat(packed.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const value = packed.slice()
        value[at]! ^= change
        const bytes = unpackBlock(cid, value)
        // bits behind the end of the stream mean nothing
        expect(
          bytes === undefined || cidTextOf(bytes, 'dag-json') !== cid || at === packed.length - 1,
        ).toBe(true)
      }),
    )
  })

  it('costs no more than 32 times the bytes that are there', () => {
    for (const [name, value] of hostile) {
      const bytes = unpackBlock(cid, value)
      expect(bytes?.length ?? 0, name).toBeLessThanOrEqual(32 * value.length)
    }
  })
})

async function makeStore(): Promise<string> {
  const directory = join(await makeTempFolder(), '.hstore')
  await (await openDatabase(directory, { waitMs: 0, create: true })).close()
  return directory
}

describe('a store with packed blocks', () => {
  it.each([...hostile, ...others])('names as corrupt a block that is %s', async (_, value) => {
    const directory = await makeStore()
    await withLevel(directory, (level) => level.put(`!blocks!${cid}`, value))
    await using database = await openDatabase(directory, { waitMs: 0 })
    const failure = { code: 'HSTORE_BLOCK_CORRUPT', details: { cid } }
    expect(() => database.findNow(cid)).toThrow(expect.objectContaining(failure))
    await expect(database.get(cid)).rejects.toMatchObject(failure)
    expect(await database.getMany([cid])).toStrictEqual([{ state: 'corrupt' }])
    const found: ScannedBlock[] = []
    for await (const block of database.scan()) found.push(block)
    expect(found).toMatchObject([{ key: cid, cid, sound: false }])
    await database.commit({ blocks: [{ cid, bytes: plain }], rows: [] })
    expect(await database.get(cid)).toStrictEqual(plain)
  })

  it('reads a block that another compressor has packed', async () => {
    const directory = await makeStore()
    for (const level of [0, 1, 9]) {
      const value = valueOf(streamOf(plain, level), plain.length)
      await withLevel(directory, (db) => db.put(`!blocks!${cid}`, value))
      await using database = await openDatabase(directory, { waitMs: 0 })
      expect(await database.get(cid)).toStrictEqual(plain)
    }
  })

  it('scans what unpacks to much in pieces', async () => {
    const directory = await makeStore()
    await using database = await openDatabase(directory, { waitMs: 0 })
    const blocks = Array.from({ length: 40 }, (_, i) => {
      const text = Array.from({ length: 9000 }, (_, j) => `"step ${j * (i + 3)}"`).join(',')
      const bytes = encoder.encode(`{"a":[${text}]}`)
      return { cid: cidTextOf(bytes, 'dag-json'), bytes }
    })
    await database.commit({ blocks, rows: [] })
    const batches: number[] = []
    let found: CidText[] = []
    for await (const batch of database.scanBatches()) {
      batches.push(batch.slice(0, -1).reduce((sum, { bytes }) => sum + bytes.length, 0))
      found = found.concat(batch.flatMap(({ cid, sound }) => (sound && cid ? [cid] : [])))
    }
    expect(found).toEqual(blocks.map(({ cid }) => cid).sort())
    expect(batches.length).toBeGreaterThan(1)
    expect(Math.max(...batches)).toBeLessThan(limit)
  })
})

describe('a damaged database with packed blocks', () => {
  const blocks = Array.from({ length: 400 }, (_, i) => {
    const steps = Array.from({ length: 60 }, (_, j) => ({
      created_by: `a${i}`,
      id: (i + 7) * (j + 3),
    }))
    const bytes = encoder.encode(JSON.stringify({ actions: steps }))
    return { cid: cidTextOf(bytes, 'dag-json'), bytes }
  })

  /** A store with all blocks in tables, or in a log. */
  async function makeFull(where: '.ldb' | '.log'): Promise<string> {
    const directory = await makeStore()
    {
      await using database = await openDatabase(directory, { waitMs: 0 })
      for (let at = 0; at < blocks.length; at += 10)
        await database.commit({ blocks: blocks.slice(at, at + 10), rows: [] })
    }
    // an opening makes a table of the log
    if (where === '.ldb') await (await openDatabase(directory, { waitMs: 0 })).close()
    return directory
  }

  async function largestIn(directory: string, end: string): Promise<string> {
    const files = await filesIn(join(directory, 'db'))
    const sized = await Promise.all(
      files
        .filter((file) => file.endsWith(end))
        .map(async (file) => [(await stat(file)).size, file] as const),
    )
    return sized.sort(([a], [b]) => b - a)[0]![1]
  }

  it.each([
    ['.ldb', 'a changed byte', 395],
    ['.ldb', 'a hole', 330],
    ['.log', 'a changed byte', 395],
    ['.log', 'a hole', 330],
  ] as const)('whose %s has %s gives back all that was not hit', async (end, damage, least) => {
    const directory = await makeFull(end)
    const file = await largestIn(directory, end)
    const bytes = await readFile(file)
    const [at, length] =
      damage === 'a hole' ? [bytes.length >> 1, bytes.length >> 4] : [bytes.length >> 1, 1]
    for (let i = at; i < at + length; i++) bytes[i]! ^= 0x5a
    await writeFile(file, bytes)
    const back: number[] = []
    await rebuildDatabase(directory, 0, async ({ db }) => {
      const reads = await db.getMany(blocks.map(({ cid }) => cid))
      const ok = reads.flatMap((read, i) => (read.state === 'ok' ? [{ read, i }] : []))
      for (const { read, i } of ok) expect(read.bytes).toStrictEqual(blocks[i]!.bytes)
      back.push(ok.length)
      return undefined
    })
    expect(back[0]).toBeGreaterThanOrEqual(least)
    expect(back[0]).toBeLessThanOrEqual(blocks.length)
    expect(packBlock(blocks[0]!.cid, blocks[0]!.bytes)[0]).toBe(1)
  })
})

describe('a store of format 1', () => {
  const fixture = join(import.meta.dirname, '../../fixtures/format-1')

  async function soundIn(directory: string): Promise<readonly string[]> {
    await using database = await openDatabase(directory, { waitMs: 0 })
    const found: string[] = []
    for await (const { key, sound } of database.scan()) if (sound) found.push(key)
    return found
  }

  it('is read as it is, and written on as format 3', async () => {
    const directory = join(await makeTempFolder(), '.hstore')
    await cp(fixture, directory, { recursive: true })
    await withLevel(directory, async (level) =>
      expect(new TextDecoder().decode(await level.get('!meta!format'))).toBe('["1"]'),
    )
    const before = await soundIn(directory)
    expect(before).toHaveLength(18)
    {
      await using database = await openDatabase(directory, { waitMs: 0 })
      expect(database.readRow('meta', 'format')).toEqual(['3'])
      await database.commit({ blocks: [{ cid, bytes: plain }], rows: [] })
    }
    expect(await soundIn(directory)).toEqual([...before, cid].sort())
    await rebuildDatabase(directory, 0, async () => ({ entries: [], lost: [] }))
    expect(await soundIn(directory)).toEqual([...before, cid].sort())
  })
})
