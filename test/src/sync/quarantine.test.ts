import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises'
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
  // the last one lives; the others do not, whatever process may have such a number by now
  const live = randomUUID()
  await writeFile(path.join(folder, `live-${live}`), '')
  const alive = `blocks-${live}`
  const files = [
    'blocks',
    `blocks-${process.ppid}-1`,
    'blocks.99999998-7',
    `blocks-${randomUUID()}`,
    alive,
  ]
  for (const [i, file] of files.entries()) {
    const arrivals = new Arrivals(path.join(folder, file))
    arrivals.add(blocks[i]!)
    arrivals.close()
  }
  const quarantine = await Quarantine.open(directory, 'remote')
  const waiting = blocks.map(({ cid }) => quarantine.arrivals.has(cid))
  expect(waiting).toEqual([true, true, true, true, false])
  await quarantine.close()
  const left = (await readdir(folder)).filter((one) => !one.endsWith(live))
  expect(left).toEqual([expect.stringMatching(/^blocks\.[\da-f-]{36}$/)])
  // what there is no room for is let go of
  const more = new Arrivals(path.join(folder, `blocks-${randomUUID()}_1`))
  more.add(blocks[4]!)
  more.close()
  const full = await Quarantine.open(directory, 'remote', { sizeBytes: 10_000, blocks: 3 })
  expect(full.arrivals.size).toBe(3)
  await full.close()
  expect(await readdir(folder)).toHaveLength(3)
})

it('reads on what it has, where another has taken it for dead; what was cut is told', async () => {
  const directory = await makeTempFolder()
  const quarantine = await Quarantine.open(directory, 'remote')
  const block = HashedBlock.of(bytesOf('large', 9_000_000), 'raw')
  quarantine.arrivals.add(block)
  const [name] = await readdir(path.join(directory, 'quarantine'))
  const folder = path.join(directory, 'quarantine', name!)
  const file = (await readdir(folder)).find((one) => one.startsWith('blocks-'))!
  const copied = new Arrivals(path.join(folder, 'copy'))
  copied.add(block)
  await rm(path.join(folder, file))
  expect(quarantine.arrivals.find(block.cid)).toHaveLength(9_000_000)
  await truncate(path.join(folder, 'copy'), 5_000_000)
  expect(() => copied.find(block.cid)).toThrow(
    expect.objectContaining({ code: 'HSTORE_STORE_BUSY' }),
  )
  copied.close()
  await quarantine.close()
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
