import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { bytesOf, randomOf, writeEnvelope } from '../support/envelope.ts'
import { closureIn, entriesIn, readRaw } from '../support/raw-blocks.ts'
import type { RawStore } from '../support/raw-blocks.ts'
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

const seed = 20_260_314
const isSoak = Boolean(process.env['HSTORE_SOAK'])
const kinds = ['flip', 'cut', 'drop', 'swap', 'replay', 'grow', 'blank'] as const
type Kind = (typeof kinds)[number]

/** A store with the worked example, a history with large files, a certificate of agent-a, and what it holds. */
interface Ground {
  readonly store: TestStore
  readonly raw: RawStore
  /** Heads whose closures are judged, with the blocks in them. */
  readonly heads: ReadonlyMap<string, ReadonlySet<string>>
  readonly head: string
  /** What agent-a's certificate covers. */
  readonly certified: ReadonlySet<string>
  readonly rosters: ReadonlySet<string>
}

const shared = await makeSharedFolder()
let ground: Ground

beforeAll(async () => {
  const store = await makeTestStore(path.join(shared, 'ground'))
  const [, certified = '', , head = ''] = await putHistory(store)
  await ok(store.run('resume', certified, '--as', agents.a))
  const large = await putLarge(store)
  const raw = await readRaw(store)
  const rosterEntries = entriesIn(raw, ({ stream }) => stream === 'roster')
  ground = {
    store,
    raw,
    heads: new Map([head, large].map((cid) => [cid, closureIn(raw, cid)])),
    head,
    certified: closureIn(raw, certified),
    rosters: new Set(rosterEntries.flatMap((cid) => [...closureIn(raw, cid)])),
  }
})

/** Two revisions with two files above 1 MiB, which lie beside the database. */
async function putLarge(store: TestStore): Promise<string> {
  const folder = path.join(shared, 'large')
  const base = { workspace: 'bench:large', author: agents.merger }
  const first = await writeEnvelope(folder, {
    ...base,
    revision: 'L1',
    files: { 'one.bin': bytesOf('one', 1_100_000), 'note.txt': 'small' },
  })
  const second = await writeEnvelope(folder, {
    ...base,
    revision: 'L2',
    parents: ['L1'],
    files: { 'two.bin': bytesOf('two', 1_200_000) },
  })
  return (await ok(store.run('put', first, second))).out.trim().split('\n')[1]!
}

/** One thing to do to one block or artifact file. */
interface Mutation {
  readonly cid: string
  readonly kind: Kind
  /** Whose bytes come in: for swap and replay. */
  readonly other: string
  /** From 0 up to 1: which bit, which length. */
  readonly where: number
}

function changed(bytes: Uint8Array, { kind, where }: Mutation, other: Uint8Array): Uint8Array {
  const at = Math.floor(where * bytes.length)
  if (kind === 'cut') return bytes.slice(0, at)
  if (kind === 'grow') return Buffer.concat([bytes, Buffer.from([Math.floor(where * 256)])])
  if (kind === 'blank') return new Uint8Array()
  if (kind === 'swap' || kind === 'replay') return other
  const flipped = bytes.slice()
  flipped[at]! ^= 1 << (Math.floor(where * 8 * 31) % 8)
  return flipped
}

async function mutateBlock({ store }: TestStore, mutation: Mutation): Promise<void> {
  const { cid, kind, other } = mutation
  const { blocks } = ground.raw
  await withLevel(store, async (level) => {
    if (kind === 'drop') return level.del(`!blocks!${cid}`)
    if (kind === 'swap') await level.put(`!blocks!${other}`, blocks.get(cid)!)
    await level.put(`!blocks!${cid}`, changed(blocks.get(cid)!, mutation, blocks.get(other)!))
  })
}

async function mutateFile({ store }: TestStore, mutation: Mutation): Promise<void> {
  const { cid, kind, other } = mutation
  const files = await filesIn(path.join(store, 'artifacts'))
  const file = files.find((name) => path.basename(name) === cid)!
  const otherFile = files.find((name) => path.basename(name) === other)!
  const [bytes, otherBytes] = [await readFile(file), await readFile(otherFile)]
  for (const name of [file, otherFile]) await chmod(name, 0o600)
  if (kind === 'drop') return rm(file)
  if (kind === 'swap') await writeFile(otherFile, bytes)
  await writeFile(file, changed(bytes, mutation, otherBytes))
}

function mutationsOf(targets: readonly string[], rounds: number): readonly Mutation[] {
  const random = randomOf(seed)
  const mutations: Mutation[] = []
  for (let round = 0; round < rounds; round++) {
    const shift = Math.floor(random() * kinds.length)
    for (const [i, cid] of targets.entries()) {
      const others = targets.filter((other) => other !== cid)
      const other = others[Math.floor(random() * others.length)]!
      mutations.push({
        cid,
        other,
        kind: kinds[(i + round + shift) % kinds.length]!,
        where: random(),
      })
    }
  }
  return mutations
}

/** Tries one mutation on a copy and returns what went wrong in words, undefined when all was right. */
async function faultOf(mutation: Mutation, isFile: boolean): Promise<string | undefined> {
  const { cid, kind, other } = mutation
  const root = path.join(shared, 'copy')
  const copy = await copyStore(ground.store, root)
  try {
    if (isFile) await mutateFile(copy, mutation)
    else await mutateBlock(copy, mutation)
    const faults = [
      ...(await verifyFaults(copy, kind === 'swap' ? [cid, other] : [cid])),
      ...(await resumeFaults(copy, mutation)),
    ]
    return faults.length === 0 ? undefined : `${kind} of ${cid} (${other}): ${faults.join('; ')}`
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

/** Where the roster itself is damaged nothing else can be judged, so it alone has to be named. */
async function verifyFaults(copy: TestStore, hit: readonly string[]): Promise<string[]> {
  const rosters = hit.filter((cid) => ground.rosters.has(cid))
  const named = rosters.length > 0 ? rosters : hit
  const { exit, out, err } = await copy.run('verify', '--all')
  return [
    ...(exit === 5 ? [] : [`verify --all exits ${exit}`]),
    ...named.filter((cid) => !`${out}${err}`.includes(cid)).map((cid) => `verify hides ${cid}`),
  ]
}

async function resumeFaults(copy: TestStore, { cid, kind, other }: Mutation): Promise<string[]> {
  const faults: string[] = []
  const hit = kind === 'swap' ? [cid, other] : [cid]
  for (const [head, closure] of ground.heads) {
    if (!hit.some((one) => closure.has(one) || ground.rosters.has(one))) continue
    const full = await copy.run('resume', head, '--full', '--as', agents.merger, '--json')
    if (opens(full.exit, full.out)) faults.push(`resume --full of ${head} is complete`)
  }
  const newer = ground.heads.get(ground.head)!
  if (!hit.some((one) => newer.has(one) && !ground.certified.has(one))) return faults
  const plain = await copy.run('resume', ground.head, '--as', agents.a, '--json')
  if (opens(plain.exit, plain.out)) faults.push('plain resume is complete')
  return faults
}

function opens(exit: number, out: string): boolean {
  return exit === 0 || out.includes('"verdict":"complete"')
}

describe('a tampered store', () => {
  it('was sound before', async () => {
    const copy = await copyStore(ground.store, path.join(shared, 'sound'))
    expect(json(await copy.run('verify', '--all', '--json'))).toMatchObject({ ok: true })
    for (const head of ground.heads.keys()) {
      expect((await copy.run('resume', head, '--full')).exit).toBe(0)
    }
    expect((await copy.run('resume', ground.head, '--as', agents.a)).exit).toBe(0)
    expect(ground.certified.size).toBeGreaterThan(10)
    expect(ground.raw.files.size).toBe(2)
  })

  const rounds = isSoak ? 14 : 1
  it(`is caught, ${rounds} times for each block (seed ${seed})`, async () => {
    const mutations = mutationsOf([...ground.raw.blocks.keys()].sort(), rounds)
    expect(mutations.length).toBeGreaterThan(isSoak ? 500 : 40)
    const faults: string[] = []
    for (const mutation of mutations)
      faults.push(...[await faultOf(mutation, false)].flatMap((fault) => fault ?? []))
    expect(faults).toEqual([])
  })

  it('is caught for each artifact file in each way', async () => {
    const faults: string[] = []
    for (const kind of kinds) {
      for (const mutation of mutationsOf([...ground.raw.files.keys()].sort(), 1)) {
        const fault = await faultOf({ ...mutation, kind }, true)
        if (fault !== undefined) faults.push(fault)
      }
    }
    expect(faults).toEqual([])
  })
})
