import { mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createHash, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { LargePart } from '../../../src/sync/large-part.ts'
import { claimPart, partFilesIn } from '../../../src/sync/part-claim.ts'
import { Presence } from '../../../src/sync/presence.ts'
import { Quarantine } from '../../../src/sync/quarantine.ts'
import { RecentBlocks } from '../../../src/sync/recent-blocks.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import { bytesOf } from '../../support/envelope.ts'
import { makeSharedFolder } from '../../support/store.ts'

const shared = await makeSharedFolder()
const folder = (): Promise<string> => mkdtemp(path.join(shared, 'x'))
const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 70_000) yield bytes.subarray(at, at + 70_000)
}

const all = bytesOf('large', 400_000)

describe('the file of a large artifact that comes in pieces', () => {
  it('is hashed as it is written', async () => {
    const part = new LargePart(path.join(await folder(), 'f'))
    await part.append(0, inPieces(all.subarray(0, 100_001)))
    await part.append(100_001, inPieces(all.subarray(100_001)))
    expect((await part.settle()).toString('hex')).toBe(sha(all))
  })

  it('is written by many in turn, and by none that believes it to be of another size', async () => {
    const file = path.join(await folder(), 'f')
    const busy = { code: 'HSTORE_STORE_BUSY' }
    for (let at = 0; at < all.length; at += 50_000) {
      const part = new LargePart(file)
      const append = (from: number): Promise<void> =>
        part.append(from, inPieces(all.subarray(from, from + 50_000)))
      await expect(append(at + 1)).rejects.toMatchObject(busy)
      await append(at)
      await expect(append(at)).rejects.toMatchObject(busy)
      await part.close()
    }
    expect((await new LargePart(file).settle()).toString('hex')).toBe(sha(all))
  })

  it('keeps what came before its source failed', async () => {
    const file = path.join(await folder(), 'f')
    const cut = async function* (): AsyncGenerator<Uint8Array> {
      yield all.subarray(0, 5000)
      throw new Error('cut')
    }
    await expect(new LargePart(file).append(0, cut())).rejects.toThrow('cut')
    const part = new LargePart(file)
    await part.append(5000, inPieces(all.subarray(5000)))
    expect((await part.settle()).toString('hex')).toBe(sha(all))
  })

  it.each([
    ['was begun before', (file: string) => writeFile(file, 'before'), async () => undefined],
    [
      'was changed since',
      async () => undefined,
      (file: string) => writeFile(file, bytesOf('other', 200_000)),
    ],
    [
      'somebody puts another in the place of',
      async () => undefined,
      async (file: string) => {
        await writeFile(`${file}.new`, bytesOf('other', 200_000))
        await rename(`${file}.new`, file)
      },
    ],
  ] as const)('is hashed as it lies when it %s', async (_what, before, between) => {
    const file = path.join(await folder(), 'f')
    await before(file)
    const append = async (from: number, to: number): Promise<void> => {
      const part = new LargePart(file)
      await part.append(
        (await stat(file).catch(() => ({ size: 0 }))).size,
        inPieces(all.subarray(from, to)),
      )
      await part.close()
    }
    await append(0, 200_000)
    await between(file)
    await append(200_000, all.length)
    const digest = (await new LargePart(file).settle()).toString('hex')
    expect(digest).toBe(sha(await readFile(file)))
    expect(digest).not.toBe(sha(all))
  })

  it.each([
    [
      'another is put in its place',
      (file: string) => writeFile(`${file}.new`, 'x').then(() => rename(`${file}.new`, file)),
    ],
    ['another has taken it', (file: string) => rm(file)],
  ])('is given up when %s while it is open', async (_what, change) => {
    const file = path.join(await folder(), 'f')
    const taken = { code: 'HSTORE_STORE_BUSY' }
    const part = new LargePart(file)
    await part.append(0, inPieces(all.subarray(0, 200_000)))
    await change(file)
    const rest = inPieces(all.subarray(200_000))
    await expect(part.append(200_000, rest)).rejects.toMatchObject(taken)
    await expect(part.settle()).rejects.toMatchObject(taken)
  })
})

describe('large artifacts in quarantine', () => {
  const cid = cidTextOf(all, 'raw')

  async function opened(directory: string): Promise<Quarantine> {
    const quarantine = await Quarantine.open(directory, 'r')
    expect(await quarantine.large.hold(cid)).toBe(true)
    return quarantine
  }

  it('go on where they were cut, and are found again once they are whole', async () => {
    const directory = await folder()
    const first = await opened(directory)
    await first.large.append(cid, 0, inPieces(all.subarray(0, 150_000)))
    await first.close()
    const second = await opened(directory)
    await second.completeAll()
    expect(await second.large.sizeOf(cid)).toBe(150_000)
    expect(second.arrivals.has(cid)).toBe(false)
    await second.large.append(cid, 150_000, inPieces(all.subarray(150_000)))
    await second.complete(cid, 'r')
    expect(second.arrivals.has(cid)).toBe(true)
    await second.close()
    const third = await Quarantine.open(directory, 'r')
    await third.completeAll()
    expect(third.arrivals.has(cid)).toBe(true)
    expect(await third.large.sizeOf(cid)).toBe(all.length)
    await third.close()
  })

  it('that do not hash to their name are thrown away, whole ones that were changed too', async () => {
    const directory = await folder()
    const quarantine = await opened(directory)
    await quarantine.large.append(cid, 0, inPieces(all.subarray(1)))
    const wrong = { code: 'HSTORE_REMOTE_INVALID' }
    await expect(quarantine.complete(cid, 'r')).rejects.toMatchObject(wrong)
    expect(await quarantine.large.sizeOf(cid)).toBe(0)
    expect(await quarantine.large.hold(cid)).toBe(true)
    await quarantine.large.append(cid, 0, inPieces(all))
    await quarantine.complete(cid, 'r')
    await quarantine.close()
    const other = await Quarantine.open(directory, 'r')
    const [name] = await quarantineFiles(directory, 'whole-')
    const changed = Buffer.from(all)
    changed[0]! ^= 1
    // in the same file, of the same size
    await writeFile(name!, changed)
    await other.completeAll()
    expect(other.arrivals.has(cid)).toBe(false)
    expect(await other.large.sizeOf(cid)).toBe(0)
    await other.close()
  })

  it('have one writer at a time: others wait, and go on where it has come to', async () => {
    const directory = await folder()
    const first = await opened(directory)
    const second = await Quarantine.open(directory, 'r')
    let isHeld = false
    const waiting = second.large.hold(cid).then((held) => {
      isHeld = held
    })
    await first.large.append(cid, 0, inPieces(all.subarray(0, 100_000)))
    second.large.refuse(cid)
    expect(await second.large.sizeOf(cid)).toBe(100_000)
    await first.large.append(cid, 100_000, inPieces(all.subarray(100_000, 150_000)))
    expect(isHeld).toBe(false)
    await first.close()
    await waiting
    expect(isHeld).toBe(true)
    expect(await second.large.sizeOf(cid)).toBe(150_000)
    await second.large.append(cid, 150_000, inPieces(all.subarray(150_000)))
    await second.complete(cid, 'r')
    await second.close()
  })

  it('are not waited for by who has hung up', async () => {
    const directory = await folder()
    const first = await opened(directory)
    const second = await Quarantine.open(directory, 'r')
    const gone = AbortSignal.abort(new Error('gone'))
    await expect(second.large.hold(cid, gone)).rejects.toThrow('gone')
    for (const one of [first, second]) await one.close()
    expect(await quarantineFiles(directory, 'large-')).toEqual([])
  })

  it.each([
    ['a process of before that lives by its number', `.${process.ppid}-3`],
    ['one that lives no more', `.${randomUUID()}`],
    ['nobody', ''],
  ])('are taken over from %s', async (_who, suffix) => {
    const directory = await folder()
    const first = await opened(directory)
    await first.large.append(cid, 0, inPieces(all.subarray(0, 150_000)))
    await first.close()
    const [left] = await quarantineFiles(directory, 'large-')
    await rename(left!, path.join(path.dirname(left!), `large-${cid}${suffix}`))
    const second = await opened(directory)
    expect(await second.large.sizeOf(cid)).toBe(150_000)
    await second.large.append(cid, 150_000, inPieces(all.subarray(150_000)))
    await second.complete(cid, 'r')
    await second.close()
    expect(await quarantineFiles(directory, 'l')).toEqual([])
  })

  it('are not taken from one that lives, wherever it does', async () => {
    const directory = await folder()
    await (await opened(directory)).close()
    const { root, live } = await somebody(directory)
    const file = path.join(root, `large-${cid}.${live}`)
    await writeFile(file, 'theirs')
    const presence = new Presence(root)
    expect(await claimPart(root, cid, presence)).toBeUndefined()
    presence.end()
    expect(partFilesIn(root)).toMatchObject([{ file, isHeld: true }])
  })

  it('of one that was taken for dead and lives harm nobody who has taken them over', async () => {
    const directory = await folder()
    await (await opened(directory)).close()
    const { root, live } = await somebody(directory)
    const theirs = new LargePart(path.join(root, `large-${cid}.${live}`))
    await theirs.append(0, inPieces(all.subarray(0, 150_000)))
    await utimes(path.join(root, `live-${live}`), 0, 0)
    const second = await opened(directory)
    const more = theirs.append(150_000, inPieces(all.subarray(0, 70_000)))
    await expect(more).rejects.toMatchObject({ code: 'HSTORE_STORE_BUSY' })
    expect(await second.large.sizeOf(cid)).toBe(150_000)
    await second.large.append(cid, 150_000, inPieces(all.subarray(150_000)))
    await second.complete(cid, 'r')
    expect(second.arrivals.has(cid)).toBe(true)
    await second.close()
    await theirs.close()
  })

  it.each(['hold', 'complete'] as const)(
    'that others remove meanwhile: %s says so',
    async (step) => {
      const directory = await folder()
      const quarantine = await opened(directory)
      await quarantine.large.append(cid, 0, inPieces(all))
      await quarantine.large.leave(cid)
      if (step === 'complete') await quarantine.large.hold(cid)
      await rm(path.join(directory, 'quarantine'), { recursive: true })
      const act = step === 'hold' ? quarantine.large.hold(cid) : quarantine.complete(cid, 'r')
      await expect(act).rejects.toMatchObject({ code: 'HSTORE_STORE_BUSY' })
    },
  )
})

/** One of another process, as its files look: of the same process numbers, where it is in another container. */
async function somebody(directory: string): Promise<{ root: string; live: string }> {
  const [name] = await readdir(path.join(directory, 'quarantine'))
  const root = path.join(directory, 'quarantine', name!)
  const live = randomUUID()
  await writeFile(path.join(root, `live-${live}`), '')
  return { root, live }
}

describe('blocks in quarantine', () => {
  it('that two leave at once are both found by the next one', async () => {
    const directory = await folder()
    const both = [await Quarantine.open(directory, 'r'), await Quarantine.open(directory, 'r')]
    const cids = both.map(({ arrivals }, i) => {
      const bytes = bytesOf(`block ${i}`, 100)
      const cid = cidTextOf(bytes, 'raw')
      arrivals.add({ cid, bytes })
      return cid
    })
    for (const one of both) await one.close()
    const next = await Quarantine.open(directory, 'r')
    expect(new Set(next.arrivals.cids())).toEqual(new Set(cids))
    await next.close()
  })
})

async function quarantineFiles(directory: string, prefix: string): Promise<string[]> {
  const root = path.join(directory, 'quarantine')
  const [one] = await readdir(root)
  const names = await readdir(path.join(root, one!))
  return names.filter((name) => name.startsWith(prefix)).map((name) => path.join(root, one!, name))
}

describe('bytes of blocks that came of late', () => {
  it('are kept up to a limit, the first go first', () => {
    const recent = new RecentBlocks(10)
    const cids = ['a', 'b', 'c', 'd'].map((text) => cidTextOf(Buffer.from(text), 'raw'))
    const held = (): (number | undefined)[] =>
      cids.map((cid: CidText) => recent.get(cid)?.bytes.length)
    for (const cid of cids.slice(0, 3)) recent.add({ cid, bytes: new Uint8Array(4) })
    expect(held()).toEqual([undefined, 4, 4, undefined])
    recent.delete(cids[1]!)
    recent.add({ cid: cids[3]!, bytes: new Uint8Array(6) })
    expect(held()).toEqual([undefined, undefined, 4, 6])
    recent.add({ cid: cids[0]!, bytes: new Uint8Array(11) })
    expect(held()).toEqual([undefined, undefined, undefined, undefined])
  })

  it('that came of late are kept up to a limit over all of a process', () => {
    const mib = 1024 * 1024
    const cid = cidTextOf(Buffer.from('a'), 'raw')
    const [one, other] = [new RecentBlocks(12 * mib), new RecentBlocks(12 * mib)]
    one.add({ cid, bytes: new Uint8Array(10 * mib) })
    other.add({ cid, bytes: new Uint8Array(10 * mib) })
    expect([one.get(cid)?.bytes.length, other.get(cid)]).toEqual([10 * mib, undefined])
    one.clear()
    other.add({ cid, bytes: new Uint8Array(10 * mib) })
    expect([one.get(cid), other.get(cid)?.bytes.length]).toEqual([undefined, 10 * mib])
    other.clear()
  })
})
