import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { runProcess } from '../support/cli.ts'
import { writeEnvelope } from '../support/envelope.ts'
import { startPuts } from '../support/put-processes.ts'
import type { TestStore } from '../support/store.ts'
import { agents, copyStore, json, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'

const isSoak = Boolean(process.env['HSTORE_SOAK'])
const shared = await makeSharedFolder()
let empty: TestStore
let copies = 0

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
})

const fresh = (): Promise<TestStore> => copyStore(empty, path.join(shared, `copy-${copies++}`))
const eight = Array.from({ length: 8 }, (_, i) => i)

/** Puts from eight processes at once, each opening the store anew for each put, and returns what they printed. */
async function putFromEight(
  { store, keys, root }: TestStore,
  count: number,
  workspace: (i: number) => string,
  parent = '',
): Promise<string[]> {
  const all = Object.values(agents)
  const processes = eight.map((i) => {
    const bundle = path.join(root, `bundle-${i}`)
    return startPuts('each', store, keys, all[i % 3]!, workspace(i), bundle, String(count), parent)
  })
  const codes = await Promise.all(processes.map(({ ended }) => ended))
  expect({ said: processes.map((one) => one.said()).join(''), codes }).toEqual({
    said: '',
    codes: eight.map(() => 0),
  })
  return processes.flatMap((one) => [...one.printed()])
}

async function expectSound(store: TestStore, entries: number): Promise<void> {
  const verified = json<{ ok: boolean; findings: unknown[]; checked: { entries: number } }>(
    await store.run('verify', '--all', '--json'),
  )
  expect(verified).toMatchObject({ ok: true, findings: [] })
  expect(verified.checked.entries).toBe(entries)
}

describe('eight processes at once', () => {
  const each = isSoak ? 50 : 4

  it(`put ${each} envelopes each in streams of their own, and none is lost`, async () => {
    const store = await fresh()
    const printed = await putFromEight(store, each, (i) => `own:${i}`)
    expect(new Set(printed).size).toBe(8 * each)
    await expectSound(store, 8 * each)
  })

  it('fork one document on purpose, with sound chains', async () => {
    const store = await fresh()
    const base = { workspace: 'shared', author: agents.merger }
    const root = await writeEnvelope(path.join(store.root, 'root'), { ...base, revision: 'ROOT' })
    const parent = (await ok(store.run('put', root))).out.trim()
    // three agents, so the eight say the same in threes: each document is one entry
    const printed = await putFromEight(store, 3, () => 'shared', parent)
    expect(printed).toHaveLength(24)
    expect(new Set(printed).size).toBe(9)
    await expectSound(store, 10)
    const { heads } = json<{ heads: { stream: string }[] }>(await store.run('heads', '--json'))
    expect(heads.filter(({ stream }) => stream === 'csag:shared')).toHaveLength(9)
  })

  it('follow one head, and one of them alone gets there first', async () => {
    const store = await fresh()
    const base = { workspace: 'shared', author: agents.merger }
    const root = await writeEnvelope(path.join(store.root, 'root'), { ...base, revision: 'ROOT' })
    await ok(store.run('put', root))
    const printed = await putFromEight(store, 1, () => 'shared', 'ROOT')
    const won = new Set(printed.filter((line) => line.startsWith('bagu')))
    expect(won.size).toBe(1)
    const lost = printed.filter((line) => !won.has(line))
    expect(new Set(lost)).toEqual(new Set(['HSTORE_HEADS_MOVED']))
    await expectSound(store, 2)
  })

  it('say different things under one name, and one of them alone is heard', async () => {
    const store = await fresh()
    const author = agents.merger
    const runs = eight.map(async (i) => {
      const folder = path.join(store.root, `b${i}`)
      const small = { workspace: 'w', revision: 'R', author, note: `note ${i}` }
      const file = await writeEnvelope(folder, small)
      return runProcess(['put', file, '--wait', '60'], { env: store.env, cwd: store.root })
    })
    const exits = (await Promise.all(runs)).map(({ exit }) => exit).sort((a, b) => a - b)
    expect(exits).toEqual([0, 6, 6, 6, 6, 6, 6, 6])
    await expectSound(store, 1)
  })
})

describe('processes of the command line at once', () => {
  const each = isSoak ? 50 : 1
  const count = isSoak ? 8 : 4

  it(`put ${count} × ${each} envelopes, and the same one from all is one entry`, async () => {
    const store = await fresh()
    const folder = path.join(store.root, 'bundle')
    const author = agents.merger
    const same = await writeEnvelope(folder, { workspace: 'same', revision: 'S', author })
    const runs = Array.from({ length: count }, async (_, i) => {
      const cids: string[] = []
      for (let n = 0; n < each; n++) {
        const revision = `C${i}-${n}`
        const own = await writeEnvelope(folder, { workspace: `cli:${i}`, revision, author })
        const ran = await runProcess(['put', own, same, '--wait', '120'], {
          env: store.env,
          cwd: store.root,
        })
        expect({ exit: ran.exit, err: ran.err.replaceAll(/.*was there already\n/g, '') }).toEqual({
          exit: 0,
          err: '',
        })
        cids.push(...ran.out.trim().split('\n'))
      }
      return cids
    })
    const printed = (await Promise.all(runs)).flat()
    expect(printed).toHaveLength(2 * count * each)
    expect(new Set(printed).size).toBe(count * each + 1)
    await expectSound(store, count * each + 1)
  })
})
