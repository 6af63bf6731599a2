import { cp, rm } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { HstoreError } from '../../../src/kernel/errors.ts'
import { Quarantine } from '../../../src/sync/quarantine.ts'
import type { RemoteMarks } from '../../../src/sync/remote-marks.ts'
import { noMarks } from '../../../src/sync/remote-marks.ts'
import { syncSession } from '../../../src/sync/session.ts'
import { openOther, openOwn } from '../../../src/sync/peer.ts'
import type { Ways } from '../../support/cut-transport.ts'
import { CutTransport, Way } from '../../support/cut-transport.ts'
import { bytesOf, randomOf, writeEnvelope } from '../../support/envelope.ts'
import type { TestStore } from '../../support/store.ts'
import { agents, makeSharedFolder, makeTestStore, ok, storeAt } from '../../support/store.ts'

const isSoak = Boolean(process.env['HSTORE_SOAK'])
const schedules = isSoak ? 500 : 3
const steps = 8
const whole = Number.MAX_SAFE_INTEGER
/** After these, each has what any of the three had. */
const lastSyncs = [
  [0, 1],
  [1, 2],
  [0, 1],
  [0, 2],
] as const
const shared = await makeSharedFolder()
let base: TestStore

beforeAll(async () => {
  base = await makeTestStore(path.join(shared, 'base'))
})

/** Three stores, and all that went between each two of them. */
class Triangle {
  readonly stores: readonly TestStore[]
  readonly made: string[] = []
  readonly ways = new Map<string, Ways>()
  /** The last revision that each store has made in each workspace. */
  readonly #last = new Map<string, string>()
  readonly #marks = new Map<string, RemoteMarks>()
  readonly #random: () => number

  constructor(stores: readonly TestStore[], random: () => number) {
    this.stores = stores
    this.#random = random
  }

  below(most: number): number {
    return Math.floor(this.#random() * most)
  }

  async put(i: number, n: number): Promise<void> {
    const store = this.stores[i]!
    const w = this.below(2)
    // a block is sent into each stream that needs it: the files of one are not those of another
    const files = {
      'f.txt': `file ${w} ${this.below(5)}`.repeat(500),
      'g.bin': bytesOf(`${w} ${this.below(9)}`, 1 + this.below(12_000)),
    }
    const revision = `R${i}-${n}`
    const before = this.#last.get(`${i} ${w}`)
    // half of them fork the stream
    const parents = before === undefined || this.below(2) === 0 ? [] : [before]
    this.#last.set(`${i} ${w}`, revision)
    const workspace = `csag:handoff/w${w}`
    const small = { workspace, revision, author: agents.merger, files, parents }
    const file = await writeEnvelope(path.join(store.root, `w${n}`), small)
    this.made.push((await ok(store.run('put', file))).out.trim())
  }

  /** Syncs one with another over a wire that may be cut; returns whether it went through. */
  async sync(i: number, j: number, leftBytes: number): Promise<boolean> {
    const [a, b] = [this.stores[i]!, this.stores[j]!]
    const key = `${i} ${j}`
    const ways = this.ways.get(key) ?? { there: new Way(), back: new Way() }
    this.ways.set(key, ways)
    const context = { folder: a.store, keysFolder: a.keys, waitMs: 20_000 }
    const quarantine = await Quarantine.open(a.store, b.store)
    await using own = await openOwn(context)
    await using other = await openOther(b.store, 20_000)
    const wire = new CutTransport(other, ways, leftBytes, this.below(2) === 0)
    try {
      const options = { pull: true, push: true, dryRun: false, nowMs: 1 }
      const before = this.#marks.get(key) ?? noMarks
      const done = await syncSession((use) => use(own), wire, quarantine, before, options)
      this.#marks.set(key, done.marks)
      const { unstored, untaken, vanished } = done.report
      expect([unstored, untaken, vanished]).toEqual([[], [], []])
      return true
    } catch (error) {
      if (error instanceof HstoreError && wire.isCut) return false
      throw error
    } finally {
      await quarantine.close()
    }
  }
}

async function triangleOf(seed: number): Promise<Triangle> {
  const stores = ['0', '1', '2'].map((name) =>
    storeAt(path.join(shared, `s${seed}`, name), base.genesis),
  )
  for (const { root } of stores) await cp(base.root, root, { recursive: true })
  return new Triangle(stores, randomOf(seed * 7919))
}

async function assertSound(store: TestStore): Promise<void> {
  const { exit, out } = await store.run('verify', '--all')
  if (exit !== 0) expect(out).toContain('0 checked')
}

async function assertEqual({ stores, made }: Triangle): Promise<void> {
  const heads = stores.map(async (store) => (await ok(store.run('heads'))).out)
  expect(new Set(await Promise.all(heads)).size).toBe(1)
  for (const store of stores) await ok(store.run('fsck'))
  for (const [n, cid] of made.entries()) await ok(stores[n % 3]!.run('get', cid, '--entry'))
}

describe('three stores in a triangle', () => {
  let cuts = 0

  it.each(Array.from({ length: schedules }, (_, i) => i + 1))(
    'agree after any order of syncs that are cut anywhere: schedule %i',
    async (seed) => {
      const triangle = await triangleOf(seed)
      for (let n = 0; n < steps; n++) {
        await triangle.put(triangle.below(3), n)
        const i = triangle.below(3)
        const j = (i + 1 + triangle.below(2)) % 3
        if (!(await triangle.sync(i, j, triangle.below(30_000)))) cuts += 1
        for (const at of [i, j]) await assertSound(triangle.stores[at]!)
      }
      for (const [i, j] of lastSyncs) expect(await triangle.sync(i, j, whole)).toBe(true)
      await assertEqual(triangle)
      for (const { there, back } of triangle.ways.values())
        for (const { sentAgain, takenAgain } of [there, back])
          expect([sentAgain, takenAgain]).toEqual([[], []])
      await rm(path.join(shared, `s${seed}`), { recursive: true })
    },
  )

  it('were cut more often than not', () => {
    expect(cuts).toBeGreaterThan((schedules * steps) / 2)
  })
})
