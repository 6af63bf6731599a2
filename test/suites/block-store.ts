import { describe, expect, it, onTestFinished } from 'vitest'
import type { ScannedBlock } from '../../store/block-store.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Block } from '../../store/block.ts'
import type { Database } from '../../store/database.ts'
import { cidTextOf } from '../../store/cid-text.ts'

/** A store under test, and a way to lay bytes under its feet. */
export interface BlockStoreUnderTest {
  readonly database: Database
  /** Writes a block row as it is given, past all checks. */
  readonly putRaw: (key: string, bytes: Uint8Array) => Promise<void>
}

/** What every store of blocks promises. `open` makes an empty one. */
export function describeBlockStore(name: string, open: () => Promise<BlockStoreUnderTest>): void {
  async function setUp(): Promise<BlockStoreUnderTest> {
    const store = await open()
    onTestFinished(() => store.database.close())
    return store
  }

  describe(`block store: ${name}`, () => {
    describeReads(setUp)
    describeDamage(setUp)
    describeScan(setUp)
  })
}

function describeReads(setUp: () => Promise<BlockStoreUnderTest>): void {
  it('gives back the bytes of a block as a plain Uint8Array', async () => {
    const { database } = await setUp()
    for (const block of [blockOf('{"a":1}'), rawBlock(0), rawBlock(7_000)]) {
      await database.commit({ blocks: [block], rows: [] })
      expect(await database.get(block.cid)).toStrictEqual(block.bytes)
      expect(await database.find(block.cid)).toStrictEqual(block.bytes)
      expect(await database.has(block.cid)).toBe(true)
      expect(await database.getMany([block.cid])).toStrictEqual([
        { state: 'ok', bytes: block.bytes },
      ])
    }
  })

  it('says what it does not hold', async () => {
    const { database } = await setUp()
    const { cid } = blockOf('{}')
    expect(await database.find(cid)).toBeUndefined()
    expect(await database.has(cid)).toBe(false)
    expect(await database.getMany([cid])).toStrictEqual([{ state: 'missing' }])
    await expect(database.get(cid)).rejects.toMatchObject({
      code: 'HSTORE_BLOCK_NOT_FOUND',
      details: { cid },
    })
  })

  it('keeps apart two codecs over the same bytes', async () => {
    const { database } = await setUp()
    const block = blockOf('{"a":1}')
    await database.commit({ blocks: [block], rows: [] })
    expect(await database.has(cidTextOf(block.bytes, 'raw'))).toBe(false)
  })

  it('reads a block that is on its way to disk', async () => {
    const { database } = await setUp()
    const block = rawBlock(2_000)
    const written = database.commit({ blocks: [block], rows: [] })
    expect(await database.getMany([block.cid])).toStrictEqual([{ state: 'ok', bytes: block.bytes }])
    expect(await database.has(block.cid)).toBe(true)
    expect(await database.get(block.cid)).toStrictEqual(block.bytes)
    await written
  })

  it('takes the same block again', async () => {
    const { database } = await setUp()
    const change = { blocks: [blockOf('{"again":true}')], rows: [] }
    await Promise.all([database.commit(change), database.commit(change)])
    await database.commit(change)
    expect(await keysOf(database)).toHaveLength(1)
  })

  it('answers many CIDs in the order in which they were asked', async () => {
    const { database } = await setUp()
    const blocks = Array.from({ length: 600 }, (_, i) => blockOf(`{"i":${i}}`))
    const held = blocks.filter((_, i) => i % 3 !== 0)
    await database.commit({ blocks: held, rows: [] })
    const cids = [...blocks, ...blocks.slice(0, 5)].map(({ cid }) => cid)
    const reads = await database.getMany(cids)
    expect(reads.map((read) => (read.state === 'ok' ? text(read.bytes) : read.state))).toEqual(
      cids.map((_, at) => ((at % 600) % 3 === 0 ? 'missing' : `{"i":${at % 600}}`)),
    )
  })
}

function describeDamage(setUp: () => Promise<BlockStoreUnderTest>): void {
  it('does not hand out bytes that do not hash to the CID', async () => {
    const { database, putRaw } = await setUp()
    const [sound, damaged] = [blockOf('{"a":1}'), blockOf('{"a":2}')]
    await database.commit({ blocks: [sound, damaged], rows: [] })
    for (const bytes of [bytesOf('{"a":3}'), new Uint8Array(7), new Uint8Array(0)]) {
      await putRaw(damaged.cid, bytes)
      const failure = { code: 'HSTORE_BLOCK_CORRUPT', details: { cid: damaged.cid } }
      await expect(database.find(damaged.cid)).rejects.toMatchObject(failure)
      await expect(database.get(damaged.cid)).rejects.toMatchObject(failure)
      expect(await database.getMany([damaged.cid, sound.cid])).toStrictEqual([
        { state: 'corrupt' },
        { state: 'ok', bytes: sound.bytes },
      ])
    }
  })

  it('knows a block by one spelling of its CID alone', async () => {
    const { database, putRaw } = await setUp()
    const block = blockOf('{"a":1}')
    // the last character has a spare bit, which no digest fills
    const other = (block.cid.slice(0, -1) + (block.cid.endsWith('a') ? 'b' : 'r')) as CidText
    await putRaw(other, block.bytes)
    await expect(database.get(other)).rejects.toMatchObject({ code: 'HSTORE_BLOCK_CORRUPT' })
    expect(await database.getMany([other])).toStrictEqual([{ state: 'corrupt' }])
    const asCommitted = { blocks: [{ cid: other, bytes: block.bytes }], rows: [] }
    await expect(database.commit(asCommitted)).rejects.toMatchObject({
      code: 'HSTORE_BLOCK_CORRUPT',
    })
  })

  it('heals a block that is put again', async () => {
    const { database, putRaw } = await setUp()
    const block = blockOf('{"a":1}')
    await putRaw(block.cid, bytesOf('{"a":9}'))
    await database.commit({ blocks: [block], rows: [] })
    expect(await database.get(block.cid)).toStrictEqual(block.bytes)
  })

  it('refuses a block whose bytes do not hash to its CID, and all that comes with it', async () => {
    const { database } = await setUp()
    const [sound, wrong] = [blockOf('{"a":1}'), blockOf('{"a":2}')]
    const blocks = [sound, { cid: wrong.cid, bytes: sound.bytes }]
    const rows = [{ index: 'meta', key: 'k', values: ['v'] }] as const
    await expect(database.commit({ blocks, rows })).rejects.toMatchObject({
      code: 'HSTORE_BLOCK_CORRUPT',
      details: { cid: wrong.cid },
    })
    expect(await database.has(sound.cid)).toBe(false)
    expect(database.readRow('meta', 'k')).toBeUndefined()
  })
}

function describeScan(setUp: () => Promise<BlockStoreUnderTest>): void {
  it('scans all blocks in key order and nothing else', async () => {
    const { database } = await setUp()
    const blocks = Array.from({ length: 700 }, (_, i) => blockOf(`{"i":${i}}`))
    const rows = [{ index: 'meta', key: blocks[0]!.cid, values: ['no block'] }] as const
    await database.commit({ blocks, rows })
    const scanned = await all(database.scan())
    expect(scanned.every(({ sound }) => sound)).toBe(true)
    expect(scanned.map(({ key }) => key)).toEqual(blocks.map(({ cid }) => cid as string).sort())
    const byCid = new Map(blocks.map(({ cid, bytes }) => [cid, bytes]))
    for (const { cid, bytes } of scanned) expect(bytes).toStrictEqual(byCid.get(cid!))
    const batches = await all(database.scanBatches())
    expect(batches.flat()).toStrictEqual(scanned)
    expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(256)
  })

  it('reports rows that are unsound', async () => {
    const { database, putRaw } = await setUp()
    const block = blockOf('{"a":1}')
    await putRaw(block.cid, bytesOf('{"a":2}'))
    await putRaw('not a CID', bytesOf('{"a":3}'))
    await putRaw(block.cid.toUpperCase(), block.bytes)
    const scanned = await all(database.scan())
    expect(scanned.map(({ key, cid, sound }) => [key, cid, sound])).toEqual([
      [block.cid.toUpperCase(), undefined, false],
      [block.cid, block.cid, false],
      ['not a CID', undefined, false],
    ])
    expect(scanned.map(({ bytes }) => text(bytes))).toEqual(['{"a":1}', '{"a":2}', '{"a":3}'])
  })

  it('lets a scan be left early', async () => {
    const { database } = await setUp()
    await database.commit({ blocks: [blockOf('{"a":1}'), blockOf('{"a":2}')], rows: [] })
    let first: ScannedBlock | undefined
    for await (const block of database.scan()) {
      first = block
      break
    }
    expect(first?.sound).toBe(true)
  })
}

function blockOf(json: string): Block {
  const bytes = bytesOf(json)
  return { cid: cidTextOf(bytes, 'dag-json'), bytes }
}

function rawBlock(sizeBytes: number): Block {
  const bytes = new Uint8Array(sizeBytes).map((_, i) => i % 251)
  return { cid: cidTextOf(bytes, 'raw'), bytes }
}

function bytesOf(json: string): Uint8Array {
  return new Uint8Array(new TextEncoder().encode(json))
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

async function keysOf(database: Database): Promise<(CidText | undefined)[]> {
  return (await all(database.scan())).map(({ cid }) => cid)
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
