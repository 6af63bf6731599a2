import * as fc from 'fast-check'
import { MemoryLevel } from 'memory-level'
import { describe, expect, it } from 'vitest'
import type { CidText } from '../../store/cid-text.ts'
import type { Change, WriteGroup } from '../../store/commit.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { CommitQueue } from '../../store/commit.ts'
import { LevelDatabase } from '../../store/level-database.ts'

/** A disk that writes when it is told to. */
class FakeDisk {
  readonly groups: WriteGroup[] = []
  readonly rows = new Map<string, readonly string[]>()
  readonly blocks = new Set<CidText>()
  readonly queue = new CommitQueue(
    (group) => this.#write(group),
    () => undefined,
  )
  #end: ((failure?: Error) => void) | undefined

  get isWriting(): boolean {
    return this.#end !== undefined
  }

  /** Ends the write that is going on and lets what follows from it happen. */
  async finish(failure?: Error): Promise<void> {
    const end = this.#end
    this.#end = undefined
    end?.(failure)
    await tick()
  }

  #write(group: WriteGroup): Promise<void> {
    this.groups.push(group)
    return new Promise((resolve, reject) => {
      this.#end = (failure) => {
        if (failure) {
          reject(failure)
          return
        }
        for (const cid of group.blocks.keys()) this.blocks.add(cid)
        for (const [key, values] of group.rows) {
          if (values === undefined) this.rows.delete(key)
          else this.rows.set(key, values)
        }
        resolve()
      }
    })
  }
}

describe('CommitQueue', () => {
  it('writes what is queued in one turn as one group', async () => {
    const disk = new FakeDisk()
    const commits = Array.from({ length: 100 }, (_, i) => disk.queue.add(change(i)))
    await tick()
    expect(disk.groups).toHaveLength(1)
    await disk.finish()
    await Promise.all(commits)
    expect(disk.blocks.size).toBe(100)
  })

  it('gathers what comes during a write into the next one', async () => {
    const disk = new FakeDisk()
    const first = disk.queue.add(change(0))
    await tick()
    const later = [1, 2, 3].map((i) => disk.queue.add(change(i)))
    expect(disk.groups).toHaveLength(1)
    await disk.finish()
    await first
    expect(disk.groups.map(({ blocks }) => blocks.size)).toEqual([1, 3])
    await disk.finish()
    await Promise.all(later)
  })

  it('acknowledges nothing before it is written', async () => {
    const disk = new FakeDisk()
    let acknowledged = false
    const commit = disk.queue.add(change(0)).then(() => (acknowledged = true))
    await tick()
    expect(acknowledged).toBe(false)
    await disk.finish()
    await commit
    expect(acknowledged).toBe(true)
  })

  it('cuts what waits into groups of bounded size', async () => {
    const disk = new FakeDisk()
    const bytes = new Uint8Array(1024 * 1024)
    const commits = Array.from({ length: 20 }, (_, i) =>
      disk.queue.add({ blocks: [{ cid: cidOf(i), bytes }], rows: [] }),
    )
    for (await tick(); disk.isWriting;) await disk.finish()
    await Promise.all(commits)
    expect(disk.groups.map(({ blocks }) => blocks.size)).toEqual([2, 8, 8, 2])
  })

  it('lets a deletion hide what is on disk until it is there itself', async () => {
    const disk = new FakeDisk()
    const row = { index: 'meta', key: 'k' } as const
    await Promise.all([
      disk.queue.add({ blocks: [], rows: [{ ...row, values: ['v'] }] }),
      tick().then(() => disk.finish()),
    ])
    const deleted = disk.queue.add({ blocks: [], rows: [{ ...row, values: undefined }] })
    expect(disk.queue.findRow('!meta!k')).toBeNull()
    await tick()
    await disk.finish()
    await deleted
    expect(disk.queue.findRow('!meta!k')).toBeUndefined()
    expect(disk.rows.has('!meta!k')).toBe(false)
  })

  it('fails all that is queued behind a failed write, and all that comes later', async () => {
    const disk = new FakeDisk()
    const first = outcome(disk.queue.add(change(0)))
    await tick()
    const behind = [1, 2].map((i) => outcome(disk.queue.add(change(i))))
    const failure = new Error('no space')
    await disk.finish(failure)
    expect(await Promise.all([first, ...behind])).toEqual([failure, failure, failure])
    expect(await outcome(disk.queue.add(change(3)))).toBe(failure)
    expect(disk.groups).toHaveLength(1)
    expect(disk.queue.findRow('!meta!last')).toBeUndefined()
    expect(disk.queue.findBlock(cidOf(1))).toBeUndefined()
    await disk.queue.settled()
  })

  it('keeps the order, and acknowledges what is on disk and nothing else, whatever happens when', async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ do: fc.constant('add'), key: fc.nat(3) }) },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('finish'), key: fc.constant(0) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('fail'), key: fc.constant(0) }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const disk = new FakeDisk()
        const expected = new Map<string, string>()
        const results: Promise<unknown>[] = []
        let failed = false
        for (const [i, { do: action, key }] of steps.entries()) {
          if (action === 'add') {
            const values = [String(i)]
            results.push(outcome(disk.queue.add({ ...change(i), rows: [rowOf(key, values)] })))
            if (failed) continue
            expect(disk.queue.findRow(`!meta!${key}`)).toEqual(values)
            expect(disk.queue.findBlock(cidOf(i))).toBeDefined()
          } else {
            await tick()
            failed ||= disk.isWriting && action === 'fail'
            await disk.finish(action === 'fail' ? new Error('injected') : undefined)
          }
        }
        for (await tick(); disk.isWriting;) await disk.finish()
        await disk.queue.settled()
        const outcomes = await Promise.all(results)
        const added = steps.flatMap(({ do: action, key }, i) =>
          action === 'add' ? [[i, key]] : [],
        )
        for (const [at, [i, key]] of added.entries()) {
          expect(disk.blocks.has(cidOf(i!))).toBe(outcomes[at] === 'written')
          if (outcomes[at] === 'written') expected.set(`!meta!${key}`, String(i))
        }
        expect(new Map([...disk.rows].map(([key, [value]]) => [key, value]))).toEqual(expected)
        // Whatever was refused came after all that was written.
        expect(outcomes.lastIndexOf('written')).toBe(
          outcomes.filter((result) => result === 'written').length - 1,
        )
      }),
      { numRuns: process.env['HSTORE_SOAK'] ? 5_000 : 200 },
    )
  })
})

describe('a database on a disk', () => {
  it('syncs each batch', async () => {
    const level = new FailingLevel()
    await level.open()
    await using database = new LevelDatabase(level, 'memory', () => level.close())
    await Promise.all([database.commit(change(1)), database.commit(change(2))])
    await database.commit(change(3))
    expect(level.options).toMatchObject([{ sync: true }, { sync: true }])
  })
  it('that fails, falls back to what is there and takes no more', async () => {
    const level = new FailingLevel()
    await level.open()
    await using database = new LevelDatabase(level, 'memory', () => level.close())
    await database.commit({ blocks: [], rows: [rowOf(0, ['before'])] })
    expect(database.readRow('meta', '0')).toEqual(['before'])
    level.failWith = new Error('IO error: 000005.log: No space left on device')
    const refused = [1, 2].map((i) =>
      outcome(database.commit({ ...change(i), rows: [rowOf(0, [`after ${i}`])] })),
    )
    expect(database.readRow('meta', '0')).toEqual(['after 2'])
    for (const result of await Promise.all(refused)) {
      expect(result).toMatchObject({ code: 'HSTORE_STORE_FULL', cause: level.failWith })
    }
    expect(database.readRow('meta', '0')).toEqual(['before'])
    expect(await database.has(cidOf(1))).toBe(false)
    level.failWith = undefined
    expect(await outcome(database.commit(change(3)))).toMatchObject({ code: 'HSTORE_STORE_FULL' })
  })

  it('that fails after it wrote, gives what is there', async () => {
    const level = new FailingLevel()
    await level.open()
    await using database = new LevelDatabase(level, 'memory', () => level.close())
    await database.commit({ blocks: [], rows: [rowOf(0, ['before'])] })
    expect(database.readRow('meta', '0')).toEqual(['before'])
    Object.assign(level, { failWith: new Error('Input/output error'), writesFirst: true })
    const refused = outcome(database.commit({ blocks: [], rows: [rowOf(0, ['after'])] }))
    expect(await refused).toMatchObject({ code: 'HSTORE_STORE_DAMAGED' })
    expect(database.readRow('meta', '0')).toEqual(['after'])
  })
})

class FailingLevel extends MemoryLevel {
  failWith: Error | undefined
  /** Whether a batch that fails is written all the same, as when only the sync fails. */
  writesFirst = false
  readonly options: unknown[] = []

  async _batch(...given: unknown[]): Promise<void> {
    this.options.push(given[1])
    if (this.failWith && !this.writesFirst) throw this.failWith
    const write: unknown = Reflect.get(MemoryLevel.prototype, '_batch')
    if (typeof write === 'function') await Reflect.apply(write, this, given)
    if (this.failWith) throw this.failWith
  }
}

function change(i: number): Change {
  return {
    blocks: [{ cid: cidOf(i), bytes: bytesOf(i) }],
    rows: [{ index: 'meta', key: 'last', values: [String(i)] }],
  }
}

function rowOf(key: number, values: readonly string[]): Change['rows'][number] {
  return { index: 'meta', key: String(key), values }
}

function cidOf(i: number): CidText {
  return cidTextOf(bytesOf(i), 'dag-json')
}

function bytesOf(i: number): Uint8Array {
  return new TextEncoder().encode(`{"i":${i}}`)
}

function outcome(commit: Promise<void>): Promise<unknown> {
  return commit.then(
    () => 'written',
    (error: unknown) => error,
  )
}

function tick(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
