import { cp } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { DirectoryTransport } from '../../../src/sync/directory-transport.ts'
import type { Transport } from '../../../src/sync/protocol.ts'
import { Quarantine } from '../../../src/sync/quarantine.ts'
import { noMarks } from '../../../src/sync/remote-marks.ts'
import { syncSession } from '../../../src/sync/session.ts'
import { withOwnOf } from '../../../src/sync/sync-with.ts'
import type { IncomingMessage, Message } from '../../../store/wire.ts'
import { decodeMessage, encodeMessage } from '../../../store/wire.ts'
import { HandoffError } from '../../../src/errors.ts'
import { HstoreError } from '../../../src/kernel/errors.ts'
import { randomOf, writeEnvelope } from '../../support/envelope.ts'
import type { TestStore } from '../../support/store.ts'
import { agents, json, makeSharedFolder, makeTestStore, ok, storeAt } from '../../support/store.ts'

const isSoak = Boolean(process.env['HSTORE_SOAK'])
const schedules = isSoak ? 500 : 3
const shared = await makeSharedFolder()

/** A wire to another store that is cut after some bytes, in either direction. */
class CutTransport implements Transport {
  readonly name: string
  readonly #below: DirectoryTransport
  readonly #cids: string[]
  #left: number

  constructor(folder: string, leftBytes: number, cids: string[]) {
    this.name = folder
    this.#below = new DirectoryTransport(folder, 20_000)
    this.#left = leftBytes
    this.#cids = cids
  }

  async ask(request: Message): Promise<IncomingMessage> {
    const sent = await decodeMessage(this.#cut(encodeMessage(request)))
    const blocks: Message['blocks'][number][] = []
    for await (const block of sent.blocks) blocks.push(block)
    const answered = await this.#below.ask({ control: sent.control, blocks })
    const back: Message['blocks'][number][] = []
    for await (const block of answered.blocks) back.push(block)
    const answer = { control: answered.control, blocks: back }
    const incoming = await this.#read(answer)
    return { control: incoming.control, blocks: this.#noted(incoming.blocks) }
  }

  async #read(answer: Message): Promise<IncomingMessage> {
    try {
      return await decodeMessage(this.#cut(encodeMessage(answer)))
    } catch (error) {
      if (error instanceof HstoreError) throw cutOff()
      throw error
    }
  }

  async *#noted(blocks: IncomingMessage['blocks']): IncomingMessage['blocks'] & AsyncGenerator {
    for await (const block of blocks) {
      this.#cids.push(block.cid)
      yield block
    }
  }

  async *#cut(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      if (chunk.length > this.#left) {
        yield chunk.subarray(0, this.#left)
        throw cutOff()
      }
      this.#left -= chunk.length
      yield chunk
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#below[Symbol.asyncDispose]()
  }
}

function cutOff(): HandoffError {
  return new HandoffError('HSTORE_REMOTE_FAILED', 'cut off')
}

/** Syncs `a` with `b` over a wire that may be cut; returns whether it went through. */
async function syncCut(
  a: TestStore,
  b: TestStore,
  leftBytes: number,
  cids: string[],
): Promise<boolean> {
  const context = { folder: a.store, keysFolder: a.keys, waitMs: 20_000 }
  const quarantine = await Quarantine.open(a.store, b.store)
  const wire = new CutTransport(b.store, leftBytes, cids)
  try {
    const options = { pull: true, push: true, dryRun: false, nowMs: 1 }
    await syncSession(withOwnOf(context), wire, quarantine, noMarks, options)
    return true
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'HSTORE_REMOTE_FAILED') return false
    throw error
  } finally {
    quarantine.close()
  }
}

async function digest(store: TestStore): Promise<string> {
  const heads = (await ok(store.run('heads'))).out
  const { entries } = json<{ entries: number }>(
    await store.run('export', path.join(store.root, `${Math.random()}.car`), '--json'),
  )
  return `${entries}\n${heads}`
}

describe('three stores in a triangle', () => {
  it.each(Array.from({ length: schedules }, (_, i) => i + 1))(
    'agree after any order of syncs that are cut anywhere: schedule %i',
    async (seed) => {
      const random = randomOf(seed * 7919)
      const root = path.join(shared, `s${seed}`)
      const first = await makeTestStore(path.join(root, '0'))
      const stores = [first]
      for (const name of ['1', '2']) {
        const store = storeAt(path.join(root, name), first.genesis)
        await cp(first.root, store.root, { recursive: true })
        stores.push(store)
      }
      const made: string[] = []
      const put = async (i: number, n: number): Promise<void> => {
        const store = stores[i]!
        const w = Math.floor(random() * 2)
        // a block is sent into each stream that needs it: the files of one are not those of another
        const files = { 'f.txt': `file ${w} ${Math.floor(random() * 5)}`.repeat(500) }
        const small = {
          workspace: `csag:handoff/w${w}`,
          revision: `R${i}-${n}`,
          author: agents.merger,
          files,
        }
        const file = await writeEnvelope(path.join(store.root, `w${n}`), small)
        made.push((await ok(store.run('put', file))).out.trim())
      }
      const received = new Map<string, string[]>()
      for (let n = 0; n < 8; n++) {
        await put(Math.floor(random() * 3), n)
        const i = Math.floor(random() * 3)
        const j = (i + 1 + Math.floor(random() * 2)) % 3
        const cids = received.get(`${i} ${j}`) ?? []
        received.set(`${i} ${j}`, cids)
        await syncCut(stores[i]!, stores[j]!, Math.floor(random() * 30_000), cids)
        // 1: nothing is there yet
        for (const at of [i, j]) {
          const { exit, out } = await stores[at]!.run('verify', '--all')
          expect([0, 1], out).toContain(exit)
        }
      }
      for (const [i, j] of [
        [0, 1],
        [1, 2],
        [0, 1],
        [0, 2],
      ] as const) {
        const cids = received.get(`${i} ${j}`) ?? []
        expect(await syncCut(stores[i]!, stores[j]!, Number.MAX_SAFE_INTEGER, cids)).toBe(true)
      }
      const all = await Promise.all(stores.map(digest))
      expect(new Set(all).size).toBe(1)
      for (const cid of made) expect((await stores[0]!.run('get', cid, '--entry')).exit).toBe(0)
      for (const store of stores) expect((await store.run('fsck')).exit).toBe(0)
      for (const cids of received.values()) {
        const twice = cids.filter((cid, at) => cids.indexOf(cid) !== at)
        expect(twice).toEqual([])
      }
    },
  )
})
