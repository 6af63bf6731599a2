import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { KeptOpen } from '../../../src/sync/kept-open.ts'
import type { Peer } from '../../../src/sync/peer.ts'
import { openOwn } from '../../../src/sync/peer.ts'
import { findPins, unpinned, writePins } from '../../../src/trust/pin-file.ts'
import type { CidText } from '../../../store/cid-text.ts'
import type { Database } from '../../../store/database.ts'
import { openDatabase } from '../../../store/database.ts'
import { isWanted, leaveWord } from '../../../store/wanted.ts'
import { makeSharedFolder, makeTestStore } from '../../support/store.ts'

const shared = await makeSharedFolder()
const store = await makeTestStore(path.join(shared, 'kept'))
const directory = store.store

/** Counts how often the store is opened. */
function counted(): { kept: KeptOpen<Peer>; opened: Database[] } {
  const opened: Database[] = []
  const options = { folder: directory, keysFolder: store.keys, waitMs: 20_000 }
  const kept = new KeptOpen(directory, async () => {
    const peer = await openOwn(options)
    opened.push(peer.db)
    return peer
  })
  return { kept, opened }
}

async function step(kept: KeptOpen<Peer>, use: (peer: Peer) => Promise<void>): Promise<void> {
  await using peer = await kept.open()
  await use(peer)
}

const look = async (): Promise<void> => undefined

async function openElsewhere(waitMs: number): Promise<void> {
  await (await openDatabase(directory, { waitMs }))[Symbol.asyncDispose]()
}

describe('a store that is kept open', () => {
  it('is opened once for steps that follow each other, and let go of at the end', async () => {
    const { kept, opened } = counted()
    for (let i = 0; i < 5; i++) await step(kept, look)
    expect(existsSync(path.join(directory, 'holder'))).toBe(true)
    await kept[Symbol.asyncDispose]()
    expect(existsSync(path.join(directory, 'holder'))).toBe(false)
    expect(opened).toHaveLength(1)
  })

  it('is given to one at a time, in the order in which they came', async () => {
    const { kept } = counted()
    const said: string[] = []
    const take = (name: string) =>
      step(kept, async () => {
        said.push(name)
        await sleep(5)
        said.push(name)
      })
    await Promise.all(['a', 'b', 'c'].map(take))
    await kept[Symbol.asyncDispose]()
    expect(said.join('')).toBe('aabbcc')
  })

  it('goes to whoever waits, between two steps and while nothing is done', async () => {
    const { kept, opened } = counted()
    const over = new AbortController()
    const steps = (async () => {
      while (!over.signal.aborted) await step(kept, look)
    })()
    await openElsewhere(20_000)
    over.abort()
    await steps
    await step(kept, look)
    const before = opened.length
    await openElsewhere(20_000)
    await step(kept, look)
    expect(opened).toHaveLength(before + 1)
    await kept[Symbol.asyncDispose]()
    expect(isWanted(directory)).toBe(false)
  })

  it('is let go of when nothing is done with it', async () => {
    const { kept, opened } = counted()
    await step(kept, look)
    while (existsSync(path.join(directory, 'holder'))) await sleep(5)
    await step(kept, look)
    expect(opened).toHaveLength(2)
    await kept[Symbol.asyncDispose]()
  })

  it('stays open as long as what the user accepts beside it is what it was', async () => {
    const { kept, opened } = counted()
    const now = performance.now.bind(performance)
    let ahead = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
    try {
      await step(kept, look)
      ahead += 2000
      await step(kept, look)
      await step(kept, look)
      expect(opened).toHaveLength(1)
      const pins = findPins(store.keys, store.genesis as CidText)!
      await writePins(store.keys, store.genesis as CidText, { ...pins, entries: 'others' })
      await step(kept, look)
      await step(kept, look)
      expect(opened).toHaveLength(1)
      ahead += 2000
      await step(kept, look)
      await step(kept, look)
      expect(opened).toHaveLength(2)
    } finally {
      clock.mockRestore()
      await kept[Symbol.asyncDispose]()
    }
  })

  it('is kept again after one who waited for it was killed', async () => {
    const { kept, opened } = counted()
    leaveWord(directory)
    for (let i = 0; i < 3; i++) await step(kept, look)
    expect(opened).toHaveLength(2)
    expect(isWanted(directory)).toBe(false)
    await kept[Symbol.asyncDispose]()
  })

  it('is opened again when rosters were accepted, or when it could not be opened', async () => {
    const { kept, opened } = counted()
    await step(kept, (peer) => peer.accept(unpinned(peer.ground.genesis)))
    await step(kept, look)
    expect(opened).toHaveLength(2)
    await kept[Symbol.asyncDispose]()
    const held = await openDatabase(directory, { waitMs: 0 })
    const failing = new KeptOpen(directory, () =>
      openOwn({ folder: directory, keysFolder: store.keys, waitMs: 0 }),
    )
    await expect(failing.open()).rejects.toMatchObject({ code: 'HSTORE_STORE_BUSY' })
    await held.close()
    await step(failing, look)
    await failing[Symbol.asyncDispose]()
  })
})
