import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { encodeBlock } from '../../store/codec.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { openCar } from '../../store/car-read.ts'
import type { CarTextBlock } from '../../store/car-read.ts'
import { writeCarBlocks } from '../../store/car-write.ts'
import { bytesOf, envelopeOf, writeEnvelope } from '../support/envelope.ts'
import { amendRoster, forge } from '../support/forge.ts'
import { historyWorkspace } from '../support/history.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  digestOf,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
} from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const stream = `csag:${historyWorkspace}`
const shared = await makeSharedFolder()
let base: TestStore
let full: TestStore
let file: string
let copies = 0

const copyOf = (store: TestStore): Promise<TestStore> =>
  copyStore(store, path.join(shared, `copy-${copies++}`))

beforeAll(async () => {
  base = await makeTestStore(path.join(shared, 'base'))
  full = await copyOf(base)
  await putHistory(full)
  file = path.join(shared, 'all.car')
  await ok(full.run('export', file))
})

async function blocksOf(
  car: string,
): Promise<{ roots: readonly string[]; blocks: CarTextBlock[] }> {
  const { roots, blocks } = await openCar(readFileSync(car))
  const all: CarTextBlock[] = []
  for await (const block of blocks) all.push(block)
  return { roots, blocks: all }
}

async function carOf(blocks: readonly CarTextBlock[]): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of writeCarBlocks([blocks[0]!.cid], blocks)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Imports bytes that have to be refused: nothing is changed by them. Returns what was said. */
async function refuses(bytes: Uint8Array, exit: number, store = base): Promise<string> {
  const before = await digestOf(store.store)
  const ran = await store.runWith({ stdin: bytes }, 'import', '-')
  expect({ exit: ran.exit, err: ran.err }).toEqual({ exit, err: ran.err })
  expect(await digestOf(store.store)).toBe(before)
  expect(readdirSync(path.join(store.store, 'tmp'))).toEqual([])
  return ran.err
}

describe('a CAR file', () => {
  it('takes a history from one store to another, the same entries and heads', async () => {
    const other = await copyOf(base)
    const ran = await ok(other.run('import', file))
    expect(ran.out).toMatch(/^4 of 7 entries are new\n$/)
    const heads = async (store: TestStore): Promise<string> => (await store.run('heads')).out
    expect(await heads(other)).toBe(await heads(full))
    expect((await other.run('verify', '--all', '--full')).exit).toBe(0)
    expect((await other.run('fsck')).exit).toBe(0)
    expect((await ok(other.run('import', file))).out).toMatch(/^0 of 7/)
    await ok(other.run('resume', stream, '--as', agents.a, '--no-certificate'))
  })

  it('has equal bytes for equal entries, whichever store they lie in', async () => {
    const other = await copyOf(base)
    await ok(other.run('import', file))
    const again = path.join(other.root, 'again.car')
    await ok(other.run('export', again))
    expect(readFileSync(again).equals(readFileSync(file))).toBe(true)
    const piped = await ok(other.run('export', '-'))
    expect(Buffer.from(piped.outBytes).equals(readFileSync(file))).toBe(true)
  })

  it('is written over nothing that is there', async () => {
    const { exit, err } = await full.run('export', file)
    expect({ exit, err }).toEqual({ exit: 2, err: expect.stringContaining('there already') })
  })

  it('of one entry holds what it rests on and the rosters, and no more', async () => {
    const { out } = await ok(full.run('log', stream))
    const first = out.trim().split('\n').at(-1)!.split(' ')[0]!
    const one = path.join(await makeTempFolder(), 'one.car')
    const report = json<{ entries: number }>(await ok(full.run('export', one, first, '--json')))
    expect(report.entries).toBe(4)
    const other = await copyOf(base)
    await ok(other.run('import', one))
    expect((await other.run('heads')).out).toContain(first)
  })

  it('is refused when it is cut anywhere, and nothing is changed', async () => {
    const bytes = readFileSync(file)
    const { blocks } = await blocksOf(file)
    const ends = sectionEnds(bytes, blocks)
    const cuts = [...ends.slice(0, -1), ...ends.map((end) => end - 1), 1, 9, bytes.length - 9]
    for (const cut of cuts) await refuses(bytes.subarray(0, cut), 5)
    const said = await refuses(bytes.subarray(0, ends.at(-2)), 5)
    expect(said).toContain(blocks.at(-2)!.cid)
  })

  it('is refused without any one of its blocks, and with one more', async () => {
    const { blocks } = await blocksOf(file)
    const [root, ...rest] = blocks as [CarTextBlock, ...CarTextBlock[]]
    const manifest = Buffer.from(root.bytes).toString()
    const withCount = (count: number): CarTextBlock => {
      const bytes = Buffer.from(manifest.replace(/"blocks":\d+/, `"blocks":${count}`))
      return { cid: cidTextOf(bytes, 'dag-json'), bytes }
    }
    const held = path.join(base.root, 'held.car')
    await ok(base.run('export', held))
    const there = new Set((await blocksOf(held)).blocks.map(({ cid }) => cid))
    for (const without of rest.filter(({ cid }) => !there.has(cid))) {
      const left = rest.filter((block) => block !== without)
      await refuses(await carOf([withCount(left.length), ...left]), 5)
    }
    const bytes = encodeBlock({ stray: true })
    const stray = { cid: cidTextOf(bytes, 'dag-json'), bytes }
    const said = await refuses(await carOf([withCount(rest.length + 1), ...rest, stray]), 5)
    expect(said).toContain(stray.cid)
    await refuses(await carOf([root, ...rest, stray]), 5)
  })

  it('is refused with any one byte changed', async () => {
    const bytes = readFileSync(file)
    for (let at = 0; at < bytes.length; at += 1511) {
      const changed = Buffer.from(bytes)
      changed[at]! ^= 1
      await refuses(changed, 5)
    }
  })

  it('of another store is refused, both stores named', async () => {
    const other = await makeTestStore(await makeTempFolder())
    const said = await refuses(readFileSync(file), 4, other)
    expect(said).toContain(full.genesis)
    expect(said).toContain(other.genesis)
  })

  it('carries large artifacts in pieces, equal ones once', async () => {
    const from = await copyOf(base)
    const large = Buffer.concat([bytesOf('large', 5_000_000), Buffer.alloc(9_000_000)])
    const envelope = await writeEnvelope(path.join(from.root, 'w'), {
      workspace: 'csag:handoff/large',
      revision: 'R1',
      author: agents.merger,
      files: { 'a.bin': large, 'b.bin': Buffer.alloc(8 * 1024 * 1024), 'c.txt': 'c' },
    })
    await ok(from.run('put', envelope))
    const car = path.join(from.root, 'large.car')
    await ok(from.run('export', car))
    const to = await copyOf(base)
    await ok(to.run('import', car))
    expect((await to.run('fsck')).exit).toBe(0)
    await ok(to.run('get', 'csag:handoff/large', '--out', path.join(to.root, 'out')))
    expect(readFileSync(path.join(to.root, 'out', 'a.bin')).equals(large)).toBe(true)
    const again = path.join(to.root, 'again.car')
    await ok(to.run('export', again))
    expect(readFileSync(again).equals(readFileSync(car))).toBe(true)
    const cut = readFileSync(car).subarray(0, -100_000)
    await refuses(cut, 5)
  })
})

describe('what has no right', () => {
  it('is not taken in, and is once the roster gives it', async () => {
    const from = await copyOf(base)
    const to = await copyOf(base)
    const did = (await ok(from.run('key', 'new', 'csag:agent/late', '--no-passphrase'))).out.trim()
    const cid = (
      await forge(from, 'csag:agent/late', {
        ...envelopeOf({
          workspace: 'csag:handoff/late',
          revision: 'R1',
          author: 'csag:agent/late',
        }),
      })
    ).cid
    await ok(from.run('roster', 'add', 'csag:agent/late', did))
    const { roster } = { roster: path.join(from.root, 'rosters.car') }
    await ok(from.run('export', roster, (await ok(from.run('heads'))).out.split(' ')[1]!))
    const before = await digestOf(to.store)
    await ok(to.run('import', roster))
    expect(await digestOf(to.store)).not.toBe(before)
    expect((await to.run('heads')).out).toContain(cid)
  })

  it('of a roster that nobody with a root signed is left out', async () => {
    const from = await copyOf(base)
    await amendRoster(from, ({ roots }) => ({ roots }))
    const to = await copyOf(base)
    const car = path.join(from.root, 'r.car')
    await ok(from.run('export', car))
    await ok(to.run('import', car))
    expect(json(await to.run('roster', 'show', '--json'))).toMatchObject({ version: 3 })
  })

  it('is told where an entry of a stranger comes along', async () => {
    const stranger = await copyOf(base)
    await ok(stranger.run('key', 'new', 'csag:agent/stranger', '--no-passphrase'))
    const entry = await forge(stranger, 'csag:agent/stranger', {
      ...envelopeOf({ workspace: 'csag:x', revision: 'R1', author: 'csag:agent/stranger' }),
    })
    const { blocks } = await blocksOf(file)
    const own = (await stranger.run('get', entry.cid, '--entry')).outBytes
    const body = (await stranger.run('get', entry.cid)).outBytes
    const more = [own, body].map((bytes) => ({ cid: cidTextOf(bytes, 'dag-json'), bytes }))
    const manifest = JSON.parse(Buffer.from(blocks[0]!.bytes).toString()) as {
      blocks: number
      tips: { '/': string }[]
    }
    manifest.blocks += 2
    manifest.tips = [...manifest.tips, { '/': entry.cid }].sort((a, b) =>
      a['/'] < b['/'] ? -1 : 1,
    )
    const root = Buffer.from(JSON.stringify(manifest))
    const car = await carOf([
      { cid: cidTextOf(root, 'dag-json'), bytes: root },
      ...blocks.slice(1),
      ...more,
    ])
    const to = await copyOf(base)
    const ran = await to.runWith({ stdin: car }, 'import', '-')
    expect(ran).toMatchObject({ exit: 4, out: '4 of 8 entries are new\n' })
    expect(ran.err).toContain(entry.cid)
    expect((await to.run('verify', '--all')).exit).toBe(0)
    expect((await to.run('get', entry.cid)).exit).toBe(2)
  })
})

/** Returns where each section of a CAR ends, the header first. */
function sectionEnds(bytes: Uint8Array, blocks: readonly CarTextBlock[]): number[] {
  const sizes = blocks.map(({ cid, bytes: { length } }) => {
    const size = length + (cid.startsWith('bag') ? 37 : 36)
    return size + (size < 0x80 ? 1 : size < 0x4000 ? 2 : size < 0x200000 ? 3 : 4)
  })
  const total = sizes.reduce((sum, size) => sum + size, 0)
  let at = bytes.length - total
  return [at, ...sizes.map((size) => (at += size))]
}
