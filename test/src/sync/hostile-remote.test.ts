import path from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packCids } from '../../../src/sync/protocol.ts'
import type { Block } from '../../../store/block.ts'
import type { JsonForm } from '../../../store/canonical.ts'
import { linkForm } from '../../../store/canonical.ts'
import { cidTextOf, cidTextOfDigest } from '../../../store/cid-text.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { bytesOf, envelopeOf, writeEnvelope } from '../../support/envelope.ts'
import { forge } from '../../support/forge.ts'
import { HostileServer, runMeasured } from '../../support/hostile-server.ts'
import type { Change } from '../../support/hostile-transport.ts'
import { to, toPacked, withBlocks, withControl } from '../../support/hostile-transport.ts'
import { historyWorkspace } from '../../support/history.ts'
import type { TestStore } from '../../support/store.ts'
import {
  agents,
  copyStore,
  digestOf,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
} from '../../support/store.ts'

const stream = `csag:${historyWorkspace}`
const shared = await makeSharedFolder()
let here: TestStore
let full: TestStore
let copies = 0
/** What a store may need, whatever a remote says. */
const mostMib = 200
const server = await HostileServer.start()
afterAll(() => server[Symbol.asyncDispose]())

const copyOf = (store: TestStore): Promise<TestStore> =>
  copyStore(store, path.join(shared, `copy-${copies++}`))

beforeAll(async () => {
  here = await makeTestStore(path.join(shared, 'here'))
  full = await copyOf(here)
  await putHistory(full)
  // what was computed of the ranges is remembered, and is no change that a remote made
  await ok(here.run('sync', full.store, '--dry-run'))
})

const told =
  /^(?:HSTORE_REMOTE_(?:DENIED|FAILED|INVALID)|HSTORE_GENESIS_MISMATCH|HSTORE_VERSION_NEWER|told)$/

const isEntry = ({ bytes }: Block): boolean =>
  Buffer.from(bytes).toString().startsWith('{"payload"')
const stranger = cidTextOf(bytesOf('stranger', 9), 'dag-json')
const flip = ({ cid, bytes }: Block): Block => ({
  cid,
  bytes: bytes.map((byte, i) => (i === 20 ? byte ^ 1 : byte)),
})
const turned = (block: Block): Block => {
  const text = Buffer.from(block.bytes).toString()
  const bytes = new Uint8Array(
    Buffer.from(
      text.replace(/"bytes":"(.)/, (_all, one: string) => `"bytes":"${one === 'A' ? 'B' : 'A'}`),
    ),
  )
  return { cid: cidTextOf(bytes, 'dag-json'), bytes }
}
const manyStreams = Array.from({ length: 20_001 }, (_, i): JsonForm => [`csag:x${i}`, 1, 'x'])

const manyBlocks = (count: number): readonly Block[] =>
  Array.from({ length: count }, (_, i) => {
    const bytes = bytesOf(`m${i}`, 20)
    return { cid: cidTextOf(bytes, 'raw'), bytes }
  })
const most = Number.MAX_SAFE_INTEGER
const manyLarge = Array.from({ length: 5000 }, () => [linkForm(stranger), 1])
const turnedAt = (all: Uint8Array, at: number): Uint8Array =>
  all.map((byte, i) => (i === at ? byte ^ 255 : byte))

/** Entries that nobody has, other ones for each range. */
function namesOf(range: number): readonly CidText[] {
  return Array.from({ length: 5000 }, (_, i) => {
    const digest = Buffer.alloc(32)
    digest.writeUInt32BE(range)
    digest.writeUInt32BE(i, 4)
    return cidTextOfDigest(digest, 'dag-json')
  })
}

const behaviours: readonly (readonly [string, Change])[] = [
  ['no answer that is one', () => bytesOf('noise', 3000)],
  ['an empty answer', () => new Uint8Array()],
  ['an answer that is cut', to('want', () => bytesOf('x', 1))],
  ['another kind of answer', to('hello', withControl({ is: 'want' }))],
  ['an answer without a kind', to('hello', withControl({ is: 1 }))],
  [
    'a refusal with control characters',
    to('hello', withControl({ is: 'no', code: 'X', message: '\u001b[2J' })),
  ],
  ['a refusal without words', to('hello', withControl({ is: 'no' }))],
  ['a newer protocol', to('hello', withControl({ v: 2 }))],
  ['another genesis', to('hello', withControl({ genesis: linkForm(stranger) }))],
  ['a genesis that is no link', to('hello', withControl({ genesis: 'x' }))],
  ['streams that are none', to('hello', withControl({ streams: 'x' }))],
  ['streams of odd rows', to('hello', withControl({ streams: [[1, 2, 3]] }))],
  ['streams without end', to('hello', withControl({ streams: manyStreams }))],
  [
    'a stream of a huge number of ranges',
    to('hello', withControl({ streams: [[stream, 2 ** 50, 'x']] })),
  ],
  ['a stream with less than no ranges', to('hello', withControl({ streams: [[stream, -1, 'x']] }))],
  [
    'a name with control characters',
    to('hello', withControl({ streams: [['csag:\u0007', 1, 'x']] })),
  ],
  [
    'a name as long as it can be',
    to('hello', withControl({ streams: [[`csag:${'x'.repeat(5000)}`, 1, 'x']] })),
  ],
  ['no answers to a comparison', to('compare', withControl({ answers: [] }))],
  [
    'more answers than questions',
    to('compare', withControl({ answers: Array.from({ length: 5000 }, () => null) })),
  ],
  [
    'answers of texts',
    to('compare', ({ control, blocks }) => ({
      control: { ...control, answers: (control['answers'] as JsonForm[]).map(() => 'x') },
      blocks,
    })),
  ],
  [
    'answers of numbers',
    to('compare', ({ control, blocks }) => ({
      control: { ...control, answers: (control['answers'] as JsonForm[]).map(() => 1) },
      blocks,
    })),
  ],
  [
    'a leaf of half a digest',
    to('compare', ({ control, blocks }) => ({
      control: {
        ...control,
        answers: (control['answers'] as JsonForm[]).map(() => ({ '/': { bytes: 'AAAA' } })),
      },
      blocks,
    })),
  ],
  [
    'too many children',
    to('compare', ({ control, blocks }) => ({
      control: {
        ...control,
        answers: (control['answers'] as JsonForm[]).map(() =>
          Array.from({ length: 40 }, () => 'x'),
        ),
      },
      blocks,
    })),
  ],
  [
    'blocks with an answer that has none',
    to(
      'hello',
      withBlocks(() => [{ cid: stranger, bytes: bytesOf('stranger', 9) }]),
    ),
  ],
  [
    'entries that it does not have',
    to('compare', ({ control, blocks }) => ({
      control: {
        ...control,
        answers: (control['answers'] as JsonForm[]).map(() => packCids([stranger])),
      },
      blocks,
    })),
  ],
  [
    'other bytes than the CIDs say',
    to(
      'want',
      withBlocks((blocks) => blocks.map(flip)),
    ),
  ],
  [
    'one block that is not its own',
    to(
      'want',
      withBlocks((blocks) => blocks.map((block, i) => (i === 3 ? flip(block) : block))),
    ),
  ],
  [
    'nothing',
    to(
      'want',
      withBlocks(() => []),
    ),
  ],
  [
    'no bodies',
    to(
      'want',
      withBlocks((blocks) => blocks.filter(isEntry)),
    ),
  ],
  [
    'no entries',
    to(
      'want',
      withBlocks((blocks) => blocks.filter((block) => !isEntry(block))),
    ),
  ],
  [
    'all but the first entry',
    to(
      'want',
      withBlocks((blocks) => blocks.slice(1)),
    ),
  ],
  [
    'broken signatures',
    to(
      'want',
      withBlocks((blocks) => blocks.map((block) => (isEntry(block) ? turned(block) : block))),
    ),
  ],
  ['it has taken none', to('want', withControl({ taken: 0 }))],
  ['it has taken more than asked', to('want', withControl({ taken: 999_999 }))],
  ['it has taken a text', to('want', withControl({ taken: 'x' }))],
  [
    'it has no other blocks',
    to(
      'blocks',
      withBlocks(() => []),
    ),
  ],
  [
    'other blocks than asked',
    to(
      'blocks',
      withBlocks((blocks) =>
        blocks.map((_block, i) => {
          const bytes = bytesOf(`b${i}`, 50)
          return { cid: cidTextOf(bytes, 'raw'), bytes }
        }),
      ),
    ),
  ],
  [
    'a large artifact that nobody asked for',
    to('blocks', withControl({ large: [[linkForm(cidTextOf(bytesOf('y', 9), 'raw')), 2 ** 40]] })),
  ],
  ['large artifacts of odd rows', to('blocks', withControl({ large: [['x']] }))],
  ['a protocol that is a text', to('hello', withControl({ v: 'x' }))],
  ['an older protocol', to('hello', withControl({ v: 0 }))],
  ['a roster that is no link', to('hello', withControl({ roster: 1 }))],
  ['another roster', to('hello', withControl({ roster: linkForm(stranger) }))],
  ['rights that are a text', to('hello', withControl({ writes: 'yes' }))],
  ['no streams at all', to('hello', withControl({ streams: [] }))],
  ['a fingerprint that is a list', to('hello', withControl({ streams: [[stream, 1, []]] }))],
  ['a stream of all ranges', to('hello', withControl({ streams: [[stream, most, 'x']] }))],
  [
    'one stream twice',
    to('hello', ({ control, blocks }) => ({
      control: { ...control, streams: [[stream, 9, 'x'], ...(control['streams'] as JsonForm[])] },
      blocks,
    })),
  ],
  ['answers that are a map', to('compare', withControl({ answers: {} }))],
  [
    'ranges that differ without end',
    (answered, { control: asked }) => {
      if (answered.control['is'] === 'hello')
        return withControl({ streams: [[stream, 2 ** 40, 'x']] })(answered)
      if (answered.control['is'] !== 'compare') return answered
      const nodes = asked['nodes'] as [string, number, number, string][]
      const answers = nodes.map(([, level]) =>
        level > 0 ? Array.from({ length: 32 }, () => 'x') : packCids([]),
      )
      return withControl({ answers })(answered)
    },
  ],
  [
    'more entries than there is memory for',
    (answered, { control: asked }) => {
      if (answered.control['is'] === 'hello')
        return withControl({ streams: [[stream, 2 ** 20, 'x']] })(answered)
      if (answered.control['is'] !== 'compare') return answered
      const nodes = (asked['nodes'] as [string, number, number, string][]).slice(0, 8)
      const answers = nodes.map(([, level, index]) =>
        level > 0 ? Array.from({ length: 32 }, () => 'x') : packCids(namesOf(index)),
      )
      return withControl({ answers })(answered)
    },
  ],
  ['a bomb in compression', to('want', () => deflateRawSync(Buffer.alloc(200_000_000)))],
  ['a bomb instead of a greeting', to('hello', () => deflateRawSync(Buffer.alloc(200_000_000)))],
  ['more bytes than an answer has', to('want', () => bytesOf('noise', 17 * 1024 * 1024))],
  ['an answer that breaks off in a block', toPacked('want', (all) => all.subarray(0, 2000))],
  ['an answer that breaks off at its start', toPacked('hello', (all) => all.subarray(0, 5))],
  ['an answer with a byte turned', toPacked('want', (all) => turnedAt(all, all.length >> 1))],
  [
    'an answer with a byte turned at its end',
    toPacked('want', (all) => turnedAt(all, all.length - 2)),
  ],
  ['a CAR without a control block', () => deflateRawSync(bytesOf('car', 40))],
  [
    'blocks in another order',
    to(
      'want',
      withBlocks((blocks) => blocks.toReversed()),
    ),
  ],
  [
    'every block twice',
    to(
      'want',
      withBlocks((blocks) => [...blocks, ...blocks]),
    ),
  ],
  [
    'blocks that nobody asked for',
    to(
      'want',
      withBlocks((blocks) => [...blocks, ...manyBlocks(500)]),
    ),
  ],
  [
    'more blocks than an answer has',
    to(
      'want',
      withBlocks(() => manyBlocks(20_001)),
    ),
  ],
  [
    'a block under another codec',
    to(
      'want',
      withBlocks((blocks) => blocks.map(({ bytes }) => ({ cid: cidTextOf(bytes, 'raw'), bytes }))),
    ),
  ],
  [
    'the bodies of other entries',
    to(
      'want',
      withBlocks((blocks) =>
        blocks.map((block, i) =>
          isEntry(block)
            ? block
            : { cid: block.cid, bytes: blocks[(i + 2) % blocks.length]!.bytes },
        ),
      ),
    ),
  ],
  [
    'an answer to another question',
    (answered, { control: asked }) =>
      asked['is'] === 'want' ? withControl({ is: 'blocks', large: [] })(answered) : answered,
  ],
  ['a refusal in the middle', to('want', withControl({ is: 'no', code: 'X', message: 'x' }))],
  [
    'a denial in the middle',
    to('want', withControl({ is: 'no', code: 'HSTORE_REMOTE_DENIED', message: 'x' })),
  ],
  ['it has taken less than none', to('want', withControl({ taken: -1 }))],
  ['it has taken all there is', to('want', withControl({ taken: most }))],
  ['large artifacts that are a text', to('blocks', withControl({ large: 'x' }))],
  ['more large artifacts than asked', to('blocks', withControl({ large: manyLarge }))],
]

describe('a hostile remote that gives', () => {
  it.each(behaviours)('%s', async (_name, change) => {
    const store = await copyOf(here)
    const before = await digestOf(store.store)
    const heads = (await store.run('heads')).out
    const code = await syncFrom(store, full.store, change)
    // some lies do no harm: all that is true came all the same
    const isHarmless = code.startsWith('pulled')
    const wanted = isHarmless ? (await full.run('heads')).out : heads
    expect(isHarmless || told.test(code), code).toBe(true)
    expect((await store.run('heads')).out).toBe(wanted)
    const ran = await store.run('verify', '--all')
    expect([0, 1], ran.out).toContain(ran.exit)
    if (!isHarmless) expect(await digestOf(store.store)).toBe(before)
    await ok(store.run('sync', full.store))
    expect((await store.run('heads')).out).toBe((await full.run('heads')).out)
  })

  it('an entry that names another stream’s block by its hash, or a list that is none', async () => {
    const { out } = await ok(full.run('log', stream, '--json'))
    const { entries } = JSON.parse(out) as { entries: { body: CidText }[] }
    const secret = entries[0]!.body
    const remote = await copyOf(full)
    const document = envelopeOf({ workspace: 'csag:x', revision: 'T1', author: agents.a })
    const { cid } = await forge(remote, agents.a, document, { artifacts: secret })
    const isOther = ({ cid: one }: Block): boolean => one !== secret
    const changes: readonly Change[] = [
      (answered) => withBlocks((blocks) => blocks.filter(isOther))(answered),
      (answered) => answered,
    ]
    for (const change of changes) {
      const store = await copyOf(full)
      expect(await syncFrom(store, remote.store, change)).toBe('told')
      expect((await store.run('get', cid)).exit).toBe(2)
      expect((await store.run('verify', '--all')).exit).toBe(0)
    }
  })
})

it('a long history without its first entry is told, and takes no longer than with it', async () => {
  const remote = await copyOf(here)
  const workspace = 'csag:handoff/long'
  const made: string[] = []
  for (let i = 0; i < 40; i++) {
    const small = { workspace, revision: `R${i}`, author: agents.merger }
    const parents = i === 0 ? [] : [`R${i - 1}`]
    const file = await writeEnvelope(path.join(remote.root, 'w'), { ...small, parents })
    made.push((await ok(remote.run('put', file))).out.trim())
  }
  const store = await copyOf(here)
  const isOther = ({ cid }: Block): boolean => cid !== made[0]
  const code = await syncFrom(
    store,
    remote.store,
    to(
      'want',
      withBlocks((blocks) => blocks.filter(isOther)),
    ),
  )
  expect(code).toBe('told')
  expect((await store.run('heads')).out).toBe('')
}, 60_000)

/**
 * Pulls from a remote that changes its answers, in a process of its own, which has to end in time and may not need much;
 * returns the error's code, or that it was told entry by entry.
 */
async function syncFrom(store: TestStore, remote: string, change: Change): Promise<string> {
  await server.serve(remote, change)
  const ran = await runMeasured(store, 60_000, 'sync', server.url, '--pull', '--json')
  expect(ran.signal).toBeNull()
  expect(ran.peakMib).toBeLessThanOrEqual(mostMib)
  expect(ran.err.split('\n').length, ran.err).toBeLessThanOrEqual(2)
  if (ran.out === '') return json<{ code: string }>({ ...ran, out: ran.err }).code
  const { pulled } = json<{ pulled: number }>(ran)
  return pulled === 0 ? 'told' : `pulled ${pulled}`
}
