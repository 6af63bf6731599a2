import { readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import { bodyOf, openBelow } from '../support/forge.ts'
import type { Ran } from '../support/cli.ts'
import { canMount, SmallDisk } from '../support/small-disk.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  filesIn,
  makeSharedFolder,
  makeTestStore,
  ok,
  storeAt,
} from '../support/store.ts'

const isSoak = Boolean(process.env['HSTORE_SOAK'])
const shared = await makeSharedFolder()
const author = agents.merger
const hasDisks = canMount(shared)
const page = 4096
let ground: TestStore

beforeAll(async () => {
  ground = await makeTestStore(path.join(shared, 'ground'))
  const small = { workspace: 'w', author }
  for (const revision of ['R0', 'R1']) {
    const parents = revision === 'R0' ? [] : ['R0']
    const file = await writeEnvelope(path.join(ground.root, 'b'), { ...small, revision, parents })
    await ok(ground.run('put', file))
  }
})

/** Free room, in pages: close together where a command writes its small files, then apart up to `most`. */
function rooms(most: number): readonly number[] {
  const all: number[] = []
  for (let pages = 0; pages * page <= most; pages += 1 + (isSoak ? pages >> 4 : pages)) {
    all.push(pages * page)
  }
  return all
}

function expectFull(argv: readonly string[], freeBytes: number, { exit, err, out }: Ran): void {
  const isPlain = exit === 0 || (exit === 8 && /^hstore: [^\n]+\n$/.test(err) && out === '')
  expect({ argv, freeBytes, exit, err, isPlain }).toEqual({
    argv,
    freeBytes,
    exit,
    err,
    isPlain: true,
  })
}

async function expectWhole(store: TestStore, freeBytes: number): Promise<void> {
  const left = (await readdir(store.store)).filter((name) => !known.test(name))
  const temporary = await filesIn(path.join(store.store, 'tmp'))
  expect({ freeBytes, left, temporary }).toEqual({ freeBytes, left: [], temporary: [] })
  for (const argv of [['verify', '--all'], ['fsck']]) {
    const { exit, err, out } = await store.run(...argv)
    expect({ freeBytes, argv, exit, said: exit === 0 ? '' : err + out }).toEqual({
      freeBytes,
      argv,
      exit: 0,
      said: '',
    })
  }
}

const known = /^(?:acknowledged|artifacts|closed|config\.json|db|lock|tmp)$/

/** Runs a command with ever more room until it gets through, and once more with room each time that it does not. */
async function sweep(
  store: TestStore,
  disk: SmallDisk,
  most: number,
  lineOf: (i: number) => Promise<readonly string[]>,
): Promise<{ readonly full: number; readonly done: number }> {
  const counts = { full: 0, done: 0 }
  for (const [i, freeBytes] of rooms(most).entries()) {
    const argv = await lineOf(i)
    disk.fill(freeBytes)
    const ran = await store.run(...argv)
    disk.empty()
    expectFull(argv, freeBytes, ran)
    counts[ran.exit === 0 ? 'done' : 'full'] += 1
    await expectWhole(store, freeBytes)
    await ok(store.run(...argv))
    if (!isSoak && counts.done > 1) break
  }
  return counts
}

async function onDisk(name: string, size: string): Promise<{ store: TestStore; disk: SmallDisk }> {
  const disk = new SmallDisk(path.join(shared, name), size)
  return { disk, store: await copyStore(ground, path.join(disk.path, 'root')) }
}

describe.skipIf(!hasDisks)('a disk that is full', () => {
  it.each([
    ['a small artifact', 3000, 300_000],
    ['an artifact above 1 MiB', 1_100_000, 5_000_000],
    ...(isSoak ? ([['an artifact of almost 1 MiB', 1_000_000, 4_000_000]] as const) : []),
  ] as const)(
    'at any write of a put with %s leaves nothing half-written',
    async (what, size, most) => {
      const { store, disk } = await onDisk(what, '200m')
      const counts = await sweep(store, disk, most, async (i) => {
        const files = { 'f.bin': bytesOf(`${what} ${i}`, size) }
        const small = { workspace: `w${i}`, revision: 'R', author, files }
        return ['put', await writeEnvelope(path.join(shared, `b-${size}`), small)]
      })
      expect(counts).toMatchObject({ full: expect.any(Number), done: expect.any(Number) })
      expect(Math.min(counts.full, counts.done)).toBeGreaterThan(0)
    },
  )

  it.each<readonly [string, (store: TestStore, i: number) => Promise<readonly string[]>]>([
    ['resume', async () => ['resume', 'csag:w', '--as', agents.a, '--full']],
    [
      'roster add',
      async (store, i) => {
        const key = await ok(store.run('key', 'new', `bot:${i}`, '--no-passphrase'))
        return ['roster', 'add', `bot:${i}`, key.out.trim()]
      },
    ],
    [
      'gc',
      async (store, i) => {
        await using context = await openBelow(store)
        await context.db.commit({ blocks: [bodyOf({ loose: i })], rows: [] })
        return ['gc']
      },
    ],
    [
      'fsck --rebuild',
      async (store) => {
        await rm(path.join(store.store, 'damaged-1'), { recursive: true, force: true })
        return ['fsck', '--rebuild']
      },
    ],
  ])('at any write of %s leaves the store whole', async (what, lineOf) => {
    const { store, disk } = await onDisk(what, '200m')
    const counts = await sweep(store, disk, 300_000, (i) => lineOf(store, i))
    expect(Math.min(counts.full, counts.done)).toBeGreaterThan(0)
  })

  it('at any write of a rebuild leaves the damaged database as it was, and the next one goes on', async () => {
    for (const freeBytes of rooms(2_000_000)) {
      const { store, disk } = await onDisk(`rebuild-${freeBytes}`, '20m')
      await writeFile(path.join(store.store, 'db', 'CURRENT'), '')
      disk.fill(freeBytes)
      const ran = await store.run('fsck', '--rebuild')
      disk.empty()
      expectFull(['fsck', '--rebuild'], freeBytes, ran)
      if (ran.exit !== 0) {
        expect((await readdir(store.store)).filter((name) => !known.test(name))).toEqual([])
        await ok(store.run('fsck', '--rebuild'))
      }
      await ok(store.run('log', 'csag:w'))
      expect((await store.run('fsck')).exit).toBe(0)
    }
  })

  it('at any write of init lets the next one make the store', async () => {
    const disk = new SmallDisk(path.join(shared, 'init'), '20m')
    const init = ['init', '--as', author, '--no-passphrase']
    for (const freeBytes of rooms(150_000)) {
      const store = storeAt(path.join(disk.path, `r-${freeBytes}`), '')
      disk.fill(freeBytes)
      const ran = await store.runWith({ cwd: disk.path }, ...init)
      disk.empty()
      expectFull(init, freeBytes, ran)
      const again = await store.runWith({ cwd: disk.path }, ...init)
      expect({ freeBytes, first: ran.exit, again: again.exit, err: again.err }).toMatchObject({
        again: ran.exit === 0 ? 6 : 0,
      })
      await ok(store.runWith({ cwd: disk.path }, 'fsck'))
      await rm(store.root, { recursive: true })
    }
  })
})

describe.skipIf(!hasDisks)('a read-only file system', () => {
  it('lets every verb give a result or say in one line that it is read-only', async () => {
    const { store, disk } = await onDisk('read-only', '20m')
    const file = await writeEnvelope(path.join(shared, 'ro'), {
      workspace: 'x',
      revision: 'R',
      author,
    })
    disk.setReadOnly(true)
    const lines = [
      ['put', file],
      ['log', 'csag:w'],
      ['heads'],
      ['show', 'csag:w'],
      ['get', 'csag:w'],
      ['verify', '--all'],
      ['verify', 'csag:w'],
      ['resume', 'csag:w'],
      ['resume', 'csag:w', '--no-certificate'],
      ['validate', file],
      ['status'],
      ['stats'],
      ['gc'],
      ['fsck'],
      ['fsck', '--rebuild'],
      ['roster', 'show'],
      ['roster', 'add', 'bot:x', 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'],
      ['key', 'list'],
      ['key', 'new', 'bot:x', '--no-passphrase'],
      ['init', '--as', author],
    ]
    const exits: Record<string, number> = {}
    for (const argv of lines) {
      const ran = await store.run(...argv)
      exits[argv.join(' ').replace(file, 'FILE')] = ran.exit
      if (ran.exit === 0) continue
      expect({ argv, err: ran.err }).toMatchObject({
        err: expect.stringMatching(/^hstore: [^\n]+\n$/) as string,
      })
    }
    expect(exits).toMatchObject({
      'validate FILE': 0,
      'key list': 0,
      'init --as csag:agent/merger': 6,
    })
    const rest = Object.entries(exits).filter(([argv]) => !/^(?:validate|key list|init)/.test(argv))
    expect(rest.filter(([, exit]) => exit !== 8)).toEqual([])
    disk.setReadOnly(false)
    expect((await store.run('fsck')).exit).toBe(0)
    await ok(store.run('put', file))
  })
})
