import { mkdir, open, readdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { HstoreError } from '../../../src/kernel/errors.ts'
import { answer } from '../../../src/sync/answer.ts'
import type { Change } from '../../support/hostile-transport.ts'
import { HostileTransport, to, withControl } from '../../support/hostile-transport.ts'
import { openOther, openOwn } from '../../../src/sync/peer.ts'
import type { QuarantineLimits } from '../../../src/sync/arrivals.ts'
import { Quarantine } from '../../../src/sync/quarantine.ts'
import { noMarks } from '../../../src/sync/remote-marks.ts'
import { ownerRights } from '../../../src/sync/rights.ts'
import type { SessionReport } from '../../../src/sync/session.ts'
import { syncSession } from '../../../src/sync/session.ts'
import { withOwnOf } from '../../../src/sync/sync-with.ts'
import type { Block } from '../../../store/block.ts'
import { HashedBlock } from '../../../store/block.ts'
import type { JsonMap } from '../../../store/canonical.ts'
import { linkForm } from '../../../store/canonical.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import { bytesOf, envelopeOf, writeEnvelope } from '../../support/envelope.ts'
import { openBelow } from '../../support/forge.ts'
import type { TestStore } from '../../support/store.ts'
import { agents, copyStore, makeSharedFolder, makeTestStore, ok } from '../../support/store.ts'

const shared = await makeSharedFolder()
const large = bytesOf('large', 5_500_000)
const artifact = cidTextOf(large, 'raw')
const small: QuarantineLimits = { sizeBytes: 1_000_000, blocks: 1000 }
const envelope = {
  workspace: 'csag:handoff/large',
  revision: 'R1',
  author: agents.merger,
  files: { 'large.bin': large },
}
let here: TestStore
/** Its document says how large the artifact is. */
let telling: TestStore
/** Its document does not. */
let silent: TestStore
let entry: CidText
let copies = 0

const copyOf = (store: TestStore): Promise<TestStore> =>
  copyStore(store, path.join(shared, `copy-${copies++}`))

beforeAll(async () => {
  here = await makeTestStore(path.join(shared, 'here'))
  telling = await copyOf(here)
  silent = await copyOf(here)
  const file = await writeEnvelope(path.join(shared, 'w'), envelope)
  entry = (await ok(telling.run('put', file))).out.trim() as CidText
  const plain = JSON.stringify(envelopeOf(envelope)).replaceAll(/,"byte_size":\d+/g, '')
  await writeFile(file, plain)
  await ok(silent.run('put', file))
}, 60_000)

/** Bytes of all files in quarantine. */
async function waitingBytes({ store }: TestStore): Promise<number> {
  const folder = path.join(store, 'quarantine')
  let size = 0
  for (const name of await readdir(folder, { recursive: true })) {
    const found = await stat(path.join(folder, name))
    if (found.isFile()) size += found.size
  }
  return size
}

/** Pulls from a remote that changes its answers. */
async function pull(
  from: TestStore,
  change: Change,
  limits: QuarantineLimits,
): Promise<{ store: TestStore; ended: SessionReport | string }> {
  const store = await copyOf(here)
  const context = { folder: store.store, keysFolder: store.keys, waitMs: 20_000 }
  const quarantine = await Quarantine.open(store.store, 'hostile', limits)
  await using wire = new HostileTransport(from.store, change)
  const options = { pull: true, push: false, dryRun: false, nowMs: 1 }
  const own = withOwnOf({ open: () => openOwn(context) })
  const ended = await syncSession(own, wire, quarantine, noMarks, options).then(
    ({ report }) => report,
    (error: unknown) => (error instanceof HstoreError ? error.code : String(error)),
  )
  await quarantine.close()
  return { store, ended }
}

const honest: Change = (answered) => answered
const whole: QuarantineLimits = { sizeBytes: 256 * 1024 * 1024, blocks: 1000 }

describe('a large artifact that is pulled', () => {
  it('may be larger than what may wait, where the document of a valid entry says so', async () => {
    const { store, ended } = await pull(telling, honest, small)
    expect(ended).toMatchObject({ pulled: 1, unstored: [] })
    await ok(store.run('fsck'))
  })

  it('may not, where no document says how large it is: nothing of it is written', async () => {
    const { store, ended } = await pull(silent, honest, small)
    const why = expect.stringContaining('may wait') as string
    expect(ended).toMatchObject({ pulled: 0, unstored: [{ fate: 'incomplete', why }] })
    expect(await waitingBytes(store)).toBe(0)
    expect((await pull(silent, honest, whole)).ended).toMatchObject({ pulled: 1 })
  })

  it.each([Number.MAX_SAFE_INTEGER, large.length + 1, large.length - 1])(
    'is not fetched where the remote says that it has %i bytes, and its document another number',
    async (size) => {
      let asked = 0
      const change: Change = (answered, { control }) => {
        if (control['is'] === 'piece') asked += 1
        const lie = withControl({ large: [[linkForm(artifact), size]] })
        return control['is'] === 'blocks' && JSON.stringify(answered.control['large']) !== '[]'
          ? lie(answered)
          : answered
      }
      const { store, ended } = await pull(telling, change, whole)
      expect(ended).toMatchObject({ pulled: 0, unstored: [{ fate: 'incomplete' }] })
      expect({ asked, waits: await waitingBytes(store) }).toEqual({ asked: 0, waits: 0 })
    },
  )

  const piece = (blocks: readonly Block[], cids = blocks.map(({ cid }) => cid)): Change =>
    to('piece', () => ({
      control: { is: 'piece', order: cids.map((cid) => [linkForm(cid)]) },
      blocks,
    }))
  const one = HashedBlock.of(bytesOf('one', 4_000_000), 'raw')
  const two = HashedBlock.of(bytesOf('two', 1_000_000), 'raw')
  it.each([
    [
      'a block 64 times',
      piece(
        [one],
        Array.from({ length: 64 }, () => one.cid),
      ),
    ],
    ['a block twice', piece([two], [two.cid, two.cid])],
    ['more than was asked for', piece([one, two])],
    ['a block that it does not name', piece([two, one], [two.cid])],
    ['other blocks than it names', piece([two], [one.cid])],
  ])('is thrown away where a remote gives %s', async (_what, change) => {
    const { store, ended } = await pull(telling, change, whole)
    expect(ended).toBe('HSTORE_REMOTE_INVALID')
    const files = await readdir(path.join(store.store, 'quarantine'), { recursive: true })
    expect(files.filter((name) => name.includes('large-'))).toEqual([])
  })
})

it('a file that repeats itself goes over both ways', async () => {
  const files = { 'zero.bin': new Uint8Array(5_000_000) }
  const from = await copyOf(here)
  const zeros = { ...envelope, files: { ...files } }
  const file = await writeEnvelope(path.join(shared, 'zeros'), zeros)
  const cid = (await ok(from.run('put', file))).out.trim()
  const there = await copyOf(here)
  await ok(from.run('sync', there.store))
  const next = await copyOf(here)
  await ok(next.run('sync', there.store))
  await ok(next.run('get', cid, '--entry'))
  await ok(next.run('fsck'))
})

describe('a client that gives', () => {
  const first = HashedBlock.of(large.subarray(0, 1_000_000), 'raw')

  async function give(
    store: TestStore,
    control: JsonMap,
    blocks: readonly Block[],
  ): Promise<JsonMap> {
    const open = () => openOther(store.store, 20_000)
    const asked = { is: 'give', artifact: linkForm(artifact), ...control }
    const request = {
      control: asked,
      blocks: (async function* () {
        yield* blocks
      })(),
    }
    return (await answer({ directory: store.store, open }, request, ownerRights)).control
  }

  const order = (blocks: readonly Block[]): JsonMap => ({
    order: blocks.map(({ cid }) => [linkForm(cid)]),
  })

  it('gives no block again and again', async () => {
    const store = await copyOf(here)
    const cids = Array.from({ length: 64 }, () => [linkForm(first.cid)])
    const answered = await give(store, { at: 0, order: cids }, [first])
    expect(answered).toMatchObject({ is: 'no', code: 'HSTORE_REMOTE_INVALID' })
    expect(await waitingBytes(store)).toBe(0)
  })

  it('gives no more than may wait, unless an entry that waits says how large it is', async () => {
    const store = await copyOf(here)
    const quarantine = await Quarantine.open(store.store, 'from owner')
    await quarantine.close()
    const [name] = await readdir(path.join(store.store, 'quarantine'))
    const folder = path.join(store.store, 'quarantine', name!)
    await mkdir(folder, { recursive: true })
    const other = cidTextOf(bytesOf('other', 9), 'raw')
    await using file = await open(path.join(folder, `large-${other}`), 'w')
    await file.truncate(256 * 1024 * 1024 - 500_000)
    const size = large.length
    const full = { is: 'no', code: 'HSTORE_QUARANTINE_FULL' }
    const asked = { at: 0, size, ...order([first]) }
    expect(await give(store, asked, [first])).toMatchObject(full)
    // without a word of its size, it is cut where there is no room
    const unsaid = { at: 0, ...order([first]) }
    expect(await give(store, unsaid, [first])).toMatchObject({ is: 'no' })
    expect(await readdir(folder)).toEqual([`large-${other}`])
    await leaveWaiting(store)
    expect(await give(store, asked, [first])).toEqual({ is: 'give', have: 1_000_000 })
    // what it says is a limit as well
    const past = { at: 1_000_000, size: size + 1, ...order([first]) }
    expect(await give(store, past, [first])).toMatchObject(full)
  })

  /** As after a push: the artifact is all that lacks. */
  async function leaveWaiting(store: TestStore): Promise<void> {
    await using context = await openBelow(telling)
    const quarantine = await Quarantine.open(store.store, 'from owner')
    for await (const blocks of context.db.scanBatches())
      for (const { cid, bytes } of blocks)
        if (cid !== undefined) quarantine.arrivals.add({ cid, bytes })
    expect(quarantine.arrivals.has(entry)).toBe(true)
    await quarantine.close()
  }
})
