import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, it } from 'vitest'
import { Arrivals } from '../../../src/sync/arrivals.ts'
import { Quarantine } from '../../../src/sync/quarantine.ts'
import { removeEmptyFolders } from '../../../store/leftovers.ts'
import { HashedBlock } from '../../../store/block.ts'
import { bytesOf } from '../../support/envelope.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'

it('takes up what several processes have left, and what is in use by none other', async () => {
  const directory = await makeTempFolder()
  const first = await Quarantine.open(directory, 'remote')
  await first.close()
  const [name] = await readdir(path.join(directory, 'quarantine'))
  const folder = path.join(directory, 'quarantine', name!)
  const blocks = ['a', 'b', 'c', 'd', 'e'].map((seed) => HashedBlock.of(bytesOf(seed, 500), 'raw'))
  // no process has such a number; another that lives has the last, one before this had the fourth
  const alive = `blocks-${process.ppid}-9999`
  const before = `blocks-${process.pid}-9999`
  const files = ['blocks', 'blocks-99999999-1', 'blocks.99999998-7', before, alive]
  for (const [i, file] of files.entries()) {
    const arrivals = new Arrivals(path.join(folder, file))
    arrivals.add(blocks[i]!)
    arrivals.close()
  }
  const quarantine = await Quarantine.open(directory, 'remote')
  const waiting = blocks.map(({ cid }) => quarantine.arrivals.has(cid))
  expect(waiting).toEqual([true, true, true, true, false])
  await quarantine.close()
  const left = (await readdir(folder)).filter((one) => one !== alive)
  expect(left).toEqual([expect.stringMatching(/^blocks\.[\da-f-]{36}$/)])
  // what there is no room for is let go of
  const more = new Arrivals(path.join(folder, 'blocks-99999997-1'))
  more.add(blocks[4]!)
  more.close()
  const full = await Quarantine.open(directory, 'remote', { sizeBytes: 10_000, blocks: 3 })
  expect(full.arrivals.size).toBe(3)
  await full.close()
  expect(await readdir(folder)).toHaveLength(2)
})

it.each(['quarantine', 'the folder of a remote in it'])(
  'goes nowhere over a link: %s',
  async (what) => {
    const directory = await makeTempFolder()
    const outside = await makeTempFolder()
    const quarantine = path.join(directory, 'quarantine')
    if (what === 'quarantine') await symlink(outside, quarantine)
    else {
      const opened = await Quarantine.open(directory, 'remote')
      await opened.close()
      const [name] = await readdir(quarantine)
      await removeEmptyFolders(directory, Date.now() + 60_000)
      expect(await readdir(quarantine)).toEqual([])
      await symlink(outside, path.join(quarantine, name!))
    }
    const refused = { code: 'HSTORE_STORE_UNREADABLE' }
    await expect(Quarantine.open(directory, 'remote')).rejects.toMatchObject(refused)
    expect(await readdir(outside)).toEqual([])
  },
)

it('leaves empty folders, which are taken away once they are old; no others are, and none behind a link', async () => {
  const directory = await makeTempFolder()
  const outside = await makeTempFolder()
  const quarantine = path.join(directory, 'quarantine')
  for (const name of ['one', 'other', 'full'])
    await mkdir(path.join(quarantine, name), { recursive: true })
  await mkdir(path.join(outside, 'theirs'))
  await writeFile(path.join(quarantine, 'full', 'blocks'), '')
  await symlink(outside, path.join(quarantine, 'linked'))
  await removeEmptyFolders(directory, 0)
  expect((await readdir(quarantine)).sort()).toEqual(['full', 'linked', 'one', 'other'])
  await removeEmptyFolders(directory, Date.now() + 60_000)
  expect((await readdir(quarantine)).sort()).toEqual(['full', 'linked'])
  expect(await readdir(outside)).toEqual(['theirs'])
})
