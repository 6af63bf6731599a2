import { appendFile, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { LargePart } from '../../../src/sync/large-part.ts'
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
    await part.append(inPieces(all.subarray(0, 100_001)))
    await part.append(inPieces(all.subarray(100_001)))
    expect((await part.settle()).toString('hex')).toBe(sha(all))
  })

  it.each([
    ['was begun before', (file: string) => writeFile(file, 'before'), async () => undefined],
    ['somebody adds to', async () => undefined, (file: string) => appendFile(file, 'more')],
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
    const part = new LargePart(file)
    await part.append(inPieces(all.subarray(0, 200_000)))
    await between(file)
    await part.append(inPieces(all.subarray(200_000)))
    const digest = (await part.settle()).toString('hex')
    expect(digest).toBe(sha(await readFile(file)))
    expect(digest).not.toBe(sha(all))
  })
})

describe('large artifacts in quarantine', () => {
  const cid = cidTextOf(all, 'raw')

  it('go on where they were cut, and are found again once they are whole', async () => {
    const directory = await folder()
    const first = await Quarantine.open(directory, 'r')
    await first.append(cid, inPieces(all.subarray(0, 150_000)))
    first.close()
    const second = await Quarantine.open(directory, 'r')
    await second.completeAll('r')
    expect(await second.sizeOf(cid)).toBe(150_000)
    expect(second.arrivals.has(cid)).toBe(false)
    await second.append(cid, inPieces(all.subarray(150_000)))
    await second.complete(cid, 'r')
    expect(second.arrivals.has(cid)).toBe(true)
    second.close()
    const third = await Quarantine.open(directory, 'r')
    await third.completeAll('r')
    expect(third.arrivals.has(cid)).toBe(true)
    expect(await third.sizeOf(cid)).toBe(all.length)
    third.close()
  })

  it('that do not hash to their name are thrown away, whole ones that were changed too', async () => {
    const directory = await folder()
    const quarantine = await Quarantine.open(directory, 'r')
    await quarantine.append(cid, inPieces(all.subarray(1)))
    const wrong = { code: 'HSTORE_REMOTE_INVALID' }
    await expect(quarantine.complete(cid, 'r')).rejects.toMatchObject(wrong)
    expect(await quarantine.sizeOf(cid)).toBe(0)
    await quarantine.append(cid, inPieces(all))
    await quarantine.complete(cid, 'r')
    quarantine.close()
    const other = await Quarantine.open(directory, 'r')
    const [name] = await quarantineFiles(directory)
    await rm(name!)
    await writeFile(name!, all.subarray(1))
    await other.completeAll('r')
    expect(other.arrivals.has(cid)).toBe(false)
    expect(await other.sizeOf(cid)).toBe(0)
    other.close()
  })
})

async function quarantineFiles(directory: string): Promise<string[]> {
  const root = path.join(directory, 'quarantine')
  const [one] = await readdir(root)
  const names = await readdir(path.join(root, one!))
  return names
    .filter((name) => name.startsWith('whole-'))
    .map((name) => path.join(root, one!, name))
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
})
