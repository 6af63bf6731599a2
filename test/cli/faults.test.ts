import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { runProcess } from '../support/cli.ts'
import { bytesOf, envelopeOf, randomOf, writeEnvelope } from '../support/envelope.ts'
import { damages, regularFiles } from '../support/file-damage.ts'
import { startPuts } from '../support/put-processes.ts'
import type { TestStore } from '../support/store.ts'
import { agents, copyStore, makeSharedFolder, makeTestStore } from '../support/store.ts'
import type { Left } from '../support/verbs-process.ts'
import { runVerbs } from '../support/verbs-process.ts'

const isSoak = Boolean(process.env['HSTORE_SOAK'])
const isRoot = process.getuid?.() === 0
const seed = 57
const shared = await makeSharedFolder()
const author = agents.merger

/** A store to damage, with the entries that were acknowledged. */
interface Shape {
  readonly store: TestStore
  readonly cids: readonly string[]
  readonly stream: string
}

const shapes: Readonly<Record<string, () => Promise<Shape>>> = {
  async 'of one process an entry'() {
    const store = await makeTestStore(path.join(shared, 'ten'))
    const cids: string[] = []
    for (let i = 0; i < (isSoak ? 10 : 5); i++) {
      const files = { [`f${i}.bin`]: bytesOf(`f${i}`, i === 4 ? 1_100_000 : 3000 + i) }
      const small = { workspace: `w${i % 2}`, revision: `R${i}`, author, files }
      const parents = i < 2 ? [] : [`R${i - 2}`]
      const file = await writeEnvelope(path.join(store.root, 'b'), { ...small, parents })
      const ran = await runProcess(['put', file], { env: store.env, cwd: store.root })
      expect(ran).toMatchObject({ exit: 0 })
      cids.push(ran.out.trim())
    }
    return { store, cids, stream: 'csag:w1' }
  },

  async 'with tables'() {
    const store = await makeTestStore(path.join(shared, 'tables'))
    const cids: string[] = []
    const each = isSoak ? 30 : 5
    for (let part = 0; part < 10; part++) {
      await using open = await openStore({ store: store.store, keys: store.keys, agent: author })
      for (let i = each * part; i < each * (part + 1); i++) {
        const parents = i < 5 ? [] : [`R${i - 5}`]
        const document = envelopeOf({
          workspace: `w${i % 5}`,
          revision: `R${i}`,
          author,
          parents,
          note: 'n'.repeat(500),
        })
        cids.push((await open.put(document)).cid)
      }
    }
    return { store, cids, stream: 'csag:w1' }
  },

  async 'of a killed process'() {
    const store = await makeTestStore(path.join(shared, 'killed'))
    const bundle = path.join(store.root, 'bundle')
    const writer = startPuts('endless', store.store, store.keys, author, 'killed:w', bundle)
    while (writer.printed().length < 40 && writer.said() === '') await sleep(2)
    await writer.kill()
    await rm(bundle, { recursive: true, force: true })
    return { store, cids: writer.printed(), stream: 'csag:killed:w' }
  },
}

interface Case {
  readonly file: string
  readonly how: string
  readonly seed: number
}

/** Every file with every damage; in the short form a few of them by chance. */
async function casesOf({ store }: Shape): Promise<readonly Case[]> {
  const cases: Case[] = []
  for (const file of await regularFiles(store.root)) {
    if (!/^(?:store|keys)\//.test(file)) continue
    for (const how of damages.keys()) {
      if (how === 'made unreadable' && isRoot) continue
      cases.push({ file, how, seed: seed + cases.length })
    }
  }
  if (isSoak) return cases
  const random = randomOf(seed)
  const ofDatabase = cases.filter(({ file }) => file.startsWith('store/db/'))
  return [ofDatabase[Math.floor(random() * ofDatabase.length)]!]
}

/** What came of a damage. */
interface Outcome extends Case {
  readonly verdict: 'healed' | 'lost and named' | 'named' | 'silent' | 'unnoticed'
  /** Verbs on which LevelDB ended the process. */
  readonly aborted: readonly string[]
}

async function tryCase(shape: Shape, one: Case): Promise<Outcome> {
  const root = path.join(shared, 'case')
  await rm(root, { recursive: true, force: true })
  const store = await copyStore(shape.store, root)
  await damages.get(one.how)!(path.join(root, one.file), one.seed)
  const lines = await linesOf(store, shape)
  const left = await runVerbs(store, lines)
  for (const [i, ran] of left.entries()) expectPlain(one, lines[i]!, ran)
  const [, , , , checked, rebuilt, holds, again] = left
  const held = new Set(JSON.parse(holds!.out || '[]') as string[])
  const lost = shape.cids.filter((cid) => !held.has(cid))
  const told = [checked!, rebuilt!].map(({ out, err }) => out + err).join('\n')
  const isTold = (what: string): boolean => new RegExp(`(?:error|hstore:).*${what}`).test(told)
  const silent = lost.filter((cid) => !isTold(cid))
  const isOfStore = one.file.startsWith('store/')
  const aborted = lines.filter((_, i) => left[i]!.exit === -1).map(([verb]) => verb!)
  const noticed = left.slice(0, 5).some(({ exit }) => exit !== 0)
  const verdict = (): Outcome['verdict'] => {
    if (silent.length > 0) return isTold(path.basename(one.file)) ? 'named' : 'silent'
    if (lost.length > 0) return 'lost and named'
    if (!noticed) return 'unnoticed'
    return isOfStore && rebuilt!.exit === 0 ? 'healed' : 'named'
  }
  // what a rebuild has named once is not named for ever, unless something still points to it
  if (rebuilt!.exit === 0) expect({ ...one, again: again!.exit }).toEqual({ ...one, again: 0 })
  return { ...one, verdict: verdict(), aborted }
}

async function linesOf({ root }: TestStore, { stream, cids }: Shape): Promise<readonly string[][]> {
  const small = { workspace: 'new', revision: 'N', author }
  const put = ['put', await writeEnvelope(path.join(root, 'new'), small)]
  const before = [['log', stream], ['verify', '--all'], ['status'], put, ['fsck']]
  return [...before, ['fsck', '--rebuild'], ['held', ...cids], ['fsck'], put, ['heads']]
}

/** Whatever was damaged: an exit code of hstore's own and short talk, and fsck is never ended by LevelDB. */
function expectPlain(one: Case, [verb = '']: readonly string[], { exit, err }: Left): void {
  const isAborted = exit === -1 && verb !== 'fsck' && verb !== 'held'
  const isPlain =
    isAborted ||
    (exit >= 0 &&
      exit <= 9 &&
      exit !== 1 &&
      !/\n\s+at |undefined|\[object/.test(err) &&
      err.split('\n').length <= 4)
  expect({ ...one, verb, exit, err, isPlain }).toMatchObject({ isPlain: true })
}

describe('a damaged file of a store', () => {
  it.each(Object.keys(shapes))(
    '%s is named, and what it held is there or named as lost',
    async (name) => {
      const shape = await shapes[name]!()
      const outcomes: Outcome[] = []
      for (const one of await casesOf(shape)) outcomes.push(await tryCase(shape, one))
      expect(outcomes.filter(({ verdict }) => verdict === 'silent')).toEqual([])
    },
  )
})
