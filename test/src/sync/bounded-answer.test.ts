import path from 'node:path'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { answer } from '../../../src/sync/answer.ts'
import { packCids } from '../../../src/sync/protocol.ts'
import { openOther } from '../../../src/sync/peer.ts'
import type { Served } from '../../../src/sync/request.ts'
import { ownerRights } from '../../../src/sync/rights.ts'
import type { Message } from '../../../store/wire.ts'
import type { JsonForm, JsonMap } from '../../../store/canonical.ts'
import { linkForm } from '../../../store/canonical.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import { leaveWord, takeWordBack } from '../../../store/wanted.ts'
import { bytesOf, writeEnvelope } from '../../support/envelope.ts'
import { agents, makeSharedFolder, makeTestStore, ok } from '../../support/store.ts'

const shared = await makeSharedFolder()
const there = await makeTestStore(path.join(shared, 'bounds'))
const stream = 'csag:csag:handoff/many'
const fileCount = 300
const texts = Array.from({ length: fileCount }, (_, i) => `file ${i}`)
const files = texts.map((text) => cidTextOf(new Uint8Array(Buffer.from(text)), 'raw'))
let entry: CidText
let reads = 0
let openings = 0

/** Counts the blocks that are read while a store is served. */
const served: Served = {
  directory: there.store,
  async open() {
    openings += 1
    const peer = await openOther(there.store, 20_000)
    const { db } = peer
    for (const key of ['get', 'getMany'] as const) {
      const read = db[key].bind(db) as (...args: unknown[]) => unknown
      vi.spyOn(db, key).mockImplementation(((...args: unknown[]) => {
        reads += Array.isArray(args[0]) ? args[0].length : 1
        return read(...args)
      }) as never)
    }
    return peer
  },
}

beforeAll(async () => {
  const all = Object.fromEntries(texts.map((text, i) => [`${i}.txt`, text]))
  const stated = {
    workspace: 'csag:handoff/many',
    revision: 'R1',
    author: agents.merger,
    files: all,
  }
  await ok(there.run('put', await writeEnvelope(path.join(there.root, 'w'), stated)))
  const { out } = await ok(there.run('log', stream, '--json'))
  entry = (JSON.parse(out) as { entries: [{ cid: CidText }] }).entries[0].cid
}, 60_000)
afterEach(() => takeWordBack(there.store))

async function asked(
  control: JsonMap,
  hungUp?: AbortSignal,
): Promise<{ readonly answer: Message; readonly reads: number; readonly openings: number }> {
  reads = 0
  openings = 0
  const blocks = (async function* () {})()
  const found = await answer(served, { control, blocks }, ownerRights, hungUp)
  return { answer: found, reads, openings }
}

function blocksOf(cids: readonly CidText[]): JsonMap {
  return { is: 'blocks', of: cids.map((cid) => [stream, linkForm(entry), [linkForm(cid)]]) }
}

const strangers = (count: number): CidText[] =>
  Array.from({ length: count }, (_, i) => cidTextOf(bytesOf(`stranger ${i}`, 9), 'raw'))

const times = (count: number, cid: CidText): CidText[] => Array.from({ length: count }, () => cid)

describe('what one request costs', () => {
  it('is a few reads for an entry, however many of its blocks are asked for', async () => {
    const one = await asked(blocksOf(files.slice(0, 1)))
    const all = await asked(blocksOf(files))
    expect(all.answer.blocks).toHaveLength(fileCount)
    expect(all.reads).toBeLessThanOrEqual(one.reads + fileCount)
    const none = await asked(blocksOf(strangers(4000)))
    expect(none.answer.control['taken']).toBe(4000)
    expect(none.answer.blocks).toHaveLength(0)
    expect(none.reads).toBeLessThanOrEqual(one.reads)
  })

  const repeats: readonly (readonly [string, () => JsonMap])[] = [
    ['block', () => blocksOf(times(2, files[0]!))],
    ['entry', () => ({ is: 'want', of: [[stream, packCids(times(2, entry))]] })],
    [
      'entry over two rows',
      () => ({ is: 'want', of: [1, 2].map((): JsonForm => [stream, packCids([entry])]) }),
    ],
    ['link', () => ({ is: 'order', stream, entries: packCids(times(2, entry)), ends: [] })],
  ]
  it.each(repeats)('is nothing where the same %s is asked for twice', async (_name, control) => {
    const { answer: said, reads: cost, openings: opened } = await asked(control())
    expect(said.control).toMatchObject({ is: 'no', code: 'HSTORE_REMOTE_INVALID' })
    // to open it, rosters are read
    expect(cost).toBeLessThanOrEqual(opened * (await asked({ is: 'hello', v: 1 })).reads)
  })

  it('is nothing for more than a request may name, over all rows', async () => {
    const row = (cids: readonly CidText[]): JsonForm => [stream, packCids(cids)]
    const of = [row(strangers(4000)), row(strangers(4100).slice(4000))]
    expect((await asked({ is: 'want', of })).answer.control['is']).toBe('no')
    const rows = [strangers(4000), strangers(4100).slice(4000)].map((cids): JsonForm => [
      stream,
      linkForm(entry),
      cids.map(linkForm),
    ])
    expect((await asked({ is: 'blocks', of: rows })).answer.control['is']).toBe('no')
  })

  it('ends where somebody waits for the database; the rest is asked for again', async () => {
    leaveWord(there.store)
    vi.spyOn(performance, 'now').mockImplementation(clockOf(60))
    try {
      const { answer: said } = await asked(blocksOf(files))
      expect(said.control['taken']).toBe(1)
      expect(said.blocks).toHaveLength(1)
    } finally {
      vi.restoreAllMocks()
    }
  })

  it('ends when the client hangs up', async () => {
    const over = new AbortController()
    over.abort(new Error('hung up'))
    const before = (await asked({ is: 'hello', v: 1 })).reads
    await expect(asked(blocksOf(files), over.signal)).rejects.toThrow('hung up')
    expect(reads).toBeLessThanOrEqual(before)
  })

  it('is shared out among steps where links are sorted: others have the store in between', async () => {
    const entries = packCids(strangers(1000))
    const { openings: opened } = await asked({ is: 'order', stream, entries, ends: [] })
    expect(opened).toBeGreaterThan(2)
  })
})

/** Returns a clock that goes on by so many ms whenever somebody looks. */
function clockOf(stepMs: number): () => number {
  let ms = 0
  return () => (ms += stepMs)
}
