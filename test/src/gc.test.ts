import {
  cp,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { GcReport } from '../../src/gc.ts'
import { openStore } from '../../src/open-store.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { bytesOf, envelopeOf, writeEnvelope } from '../support/envelope.ts'
import { bodyOf, openBelow } from '../support/forge.ts'
import { closureIn, entriesIn, payloadIn, readRaw } from '../support/raw-blocks.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  filesIn,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
  withLevel,
} from '../support/store.ts'

const dayMs = 24 * 60 * 60 * 1000
const yearMs = 365 * dayMs
const shared = await makeSharedFolder()
let ground: TestStore
let cids: readonly string[]
let copies = 0

beforeAll(async () => {
  ground = await makeTestStore(path.join(shared, 'ground'))
  cids = await putHistory(ground)
  await ok(ground.run('resume', cids[3]!, '--as', agents.merger))
  const files = { 'large.bin': bytesOf('large', 1_100_000) }
  const small = { workspace: 'w', revision: 'R', author: agents.merger, files }
  await ok(ground.run('put', await writeEnvelope(path.join(ground.root, 'bundle'), small)))
})

const fresh = (): Promise<TestStore> => copyStore(ground, path.join(shared, `copy-${copies++}`))
const open = ({ store, keys }: TestStore) => openStore({ store, keys, agent: agents.merger })

async function collect(store: TestStore, nowMs: number): Promise<GcReport> {
  await using opened = await open(store)
  return await opened.gc(nowMs)
}

const loose = [bodyOf({ nobody: 'names this' }), bodyOf({ nor: 'this' })]
const looseCids = loose.map(({ cid }) => cid)

/** Adds blocks that no entry leads to, and files that nothing needs. */
async function litter(store: TestStore): Promise<readonly string[]> {
  await using context = await openBelow(store)
  await context.db.commit({ blocks: loose, rows: [] })
  const artifact = path.basename([...(await filesIn(path.join(store.store, 'artifacts')))][0]!)
  const other = cidTextOf(new TextEncoder().encode('loose'), 'raw')
  const folder = path.join(store.store, 'artifacts', other.slice(-3, -1))
  const from = path.join(store.store, 'artifacts', artifact.slice(-3, -1), artifact)
  await cp(from, path.join(folder, other))
  const left = [path.join('tmp', 'left'), 'config.json.77.abc123.tmp']
  for (const name of left) await writeFile(path.join(store.store, name), 'left')
  return [path.join(folder, other), ...left.map((name) => path.join(store.store, name))]
}

describe('gc', () => {
  it('takes nothing from a store in which all is needed, whatever its age', async () => {
    const store = await fresh()
    const before = await readRaw(store)
    expect(await collect(store, Date.now() + 10 * yearMs)).toEqual({
      blocks: 0,
      artifacts: 0,
      temporary: 0,
      sizeBytes: 0,
      spared: 0,
    })
    const after = await readRaw(store)
    expect([...after.blocks.keys()]).toEqual([...before.blocks.keys()])
    expect([...after.files.keys()]).toEqual([...before.files.keys()])
  })

  it('takes blocks that no entry leads to at once, and files when they are a day old', async () => {
    const store = await fresh()
    const files = await litter(store)
    const first = await collect(store, Date.now())
    expect(first).toMatchObject({ blocks: 2, artifacts: 0, temporary: 0, spared: 3 })
    expect(await collect(store, Date.now() + dayMs + 1000)).toMatchObject({
      blocks: 0,
      artifacts: 1,
      temporary: 2,
      spared: 0,
    })
    const all = [...(await filesIn(store.store))]
    expect(all.filter((file) => files.includes(file))).toEqual([])
    const raw = await readRaw(store)
    const needed = entriesIn(raw, () => true).flatMap((cid) => [...closureIn(raw, cid)])
    expect(needed.filter((cid) => !raw.blocks.has(cid) && !raw.files.has(cid))).toEqual([])
    expect(looseCids.filter((cid) => raw.blocks.has(cid))).toEqual([])
    expect((await store.run('fsck')).exit).toBe(0)
  })

  it('spares what seems to come from the future: the clock was set back', async () => {
    const store = await fresh()
    await litter(store)
    expect(await collect(store, Date.now() - 10 * yearMs)).toMatchObject({ blocks: 2, spared: 3 })
    // and a file that says it is old was renamed into its place a moment ago
    for (const file of await filesIn(path.join(store.store, 'tmp'))) await utimes(file, 0, 0)
    expect(await collect(store, Date.now())).toMatchObject({ temporary: 0, spared: 3 })
  })

  it('refuses where a block is damaged or lost: what seems loose may be all that is left', async () => {
    const { blocks } = await readRaw(ground)
    const { body, artifacts, source } = payloadIn(blocks.get(cids[0]!)!)!
    for (const cid of [cids[0]!, ...[body, artifacts, source].map((link) => link!['/'])]) {
      for (const bytes of [undefined, Buffer.from('x')]) {
        const store = await fresh()
        const files = await litter(store)
        await withLevel(store.store, (level) =>
          bytes === undefined ? level.del(`!blocks!${cid}`) : level.put(`!blocks!${cid}`, bytes),
        )
        const refused = collect(store, Date.now() + 2 * dayMs)
        await expect(refused).rejects.toMatchObject({ code: 'HSTORE_STORE_DAMAGED' })
        expect(await filesIn(store.store)).toEqual(expect.arrayContaining([...files]))
        const left = await readRaw(store)
        expect(looseCids.every((one) => left.blocks.has(one))).toBe(true)
      }
    }
  })

  it('beside puts of the same process takes nothing that they name', async () => {
    const store = await fresh()
    await using opened = await open(store)
    const puts = Array.from({ length: 40 }, async (_, i) => {
      const document = envelopeOf({ workspace: `p${i}`, revision: 'R', author: agents.merger })
      return (await opened.put(document)).cid
    })
    const collected = Array.from({ length: 5 }, () =>
      opened.gc(Date.now() + 2 * dayMs).catch((error: { code: string }) => error.code),
    )
    const done = await Promise.all([...puts, ...collected])
    expect(
      done.filter((one) => typeof one === 'string' && one !== 'HSTORE_STORE_BUSY'),
    ).toHaveLength(40)
    await opened.close()
    expect((await store.run('fsck')).exit).toBe(0)
  })

  it('is not undone by a rebuild that finds the old tables of the database', async () => {
    const store = await fresh()
    await litter(store)
    // opened once more, so that the blocks are in a table
    await ok(store.run('heads'))
    const folder = path.join(store.store, 'db')
    const old = path.join(store.root, 'old')
    await cp(folder, old, { recursive: true })
    await collect(store, Date.now() + 2 * dayMs)
    await ok(store.run('heads'))
    const current = new Set(await readdir(folder))
    const tables = (await readdir(old)).filter((name) => name.endsWith('.ldb'))
    for (const name of tables) {
      if (!current.has(name)) await cp(path.join(old, name), path.join(folder, name))
    }
    await writeFile(path.join(folder, 'CURRENT'), '')
    const before = new Set(await readdir(path.join(store.root, 'old')))
    expect(tables.some((name) => before.has(name) && !current.has(name))).toBe(true)
    const rebuilt = json<{ kept: string; findings: { code: string }[] }>(
      await ok(store.run('fsck', '--rebuild', '--json')),
    )
    expect(rebuilt.findings.map(({ code }) => code)).not.toContain('HS1007')
    const { blocks } = await readRaw(store)
    expect(looseCids.filter((cid) => blocks.has(cid))).toEqual([])
    expect((await store.run('verify', '--all')).exit).toBe(0)
  })
})

describe('gc of what somebody has planted', () => {
  it('takes nothing over a link to another store', async () => {
    const store = await fresh()
    const other = await fresh()
    const files = { 'other.bin': bytesOf('other', 1_300_000) }
    const small = { workspace: 'other', revision: 'R', author: agents.merger, files }
    await ok(other.run('put', await writeEnvelope(path.join(other.root, 'other'), small)))
    const folders = path.join(other.store, 'artifacts')
    const mine = path.join(store.store, 'artifacts')
    await rm(mine, { recursive: true })
    await mkdir(mine)
    for (const name of await readdir(folders))
      await symlink(path.join(folders, name), path.join(mine, name))
    const before = await filesIn(folders)
    expect(await collect(store, Date.now() + yearMs)).toMatchObject({ artifacts: 0 })
    expect(await filesIn(folders)).toEqual(before)
  })
})

describe('gc beside a put of the same process', () => {
  it('lets the put end first, or waits with it', async () => {
    const store = await fresh()
    const files = { 'again.bin': bytesOf('again', 1_200_000) }
    const small = { workspace: 'again', revision: 'R', author: agents.merger, files }
    const file = await writeEnvelope(path.join(store.root, 'again'), small)
    const cid = cidTextOf(files['again.bin'], 'raw')
    const at = path.join(store.store, 'artifacts', cid.slice(-3, -1), cid)
    await mkdir(path.dirname(at), { recursive: true })
    await writeFile(at, files['again.bin'])
    await using opened = await open(store)
    const bytes = await readFile(file)
    const [, put] = await Promise.all([
      opened.gc(Date.now() + yearMs),
      opened.put(bytes, { bundle: path.dirname(file) }),
    ])
    expect(put.new).toBe(true)
    expect(await filesIn(path.dirname(at))).toContain(at)
  })
})

describe('a block that was collected', () => {
  it('is no longer, once it is put again', async () => {
    const store = await fresh()
    await litter(store)
    await collect(store, Date.now())
    await using context = await openBelow(store)
    const [first, second] = looseCids
    expect(context.db.readRow('collected', first!)).toEqual([])
    await context.db.commit({ blocks: [loose[0]!], rows: [] })
    expect(context.db.readRow('collected', first!)).toBeUndefined()
    expect(context.db.readRow('collected', second!)).toEqual([])
  })

  it('is known as such after a rebuild too', async () => {
    const store = await fresh()
    await litter(store)
    await collect(store, Date.now() + 2 * dayMs)
    await truncate(path.join(store.store, 'db', 'CURRENT'), 0)
    await ok(store.run('fsck', '--rebuild'))
    await using context = await openBelow(store)
    const [first] = looseCids
    expect(context.db.readRow('collected', first!)).toEqual([])
    await context.db.commit({ blocks: [loose[0]!], rows: [] })
    expect(context.db.readRow('collected', first!)).toBeUndefined()
  })
})
