import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { historyWorkspace } from '../support/history.ts'
import { entriesIn, readRaw } from '../support/raw-blocks.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
  withLevel,
} from '../support/store.ts'

const stream = `csag:${historyWorkspace}`
const isSoak = Boolean(process.env['HSTORE_SOAK'])
const shared = await makeSharedFolder()
let store: TestStore
let cids: readonly string[]
let copies = 0

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'ground'))
  cids = await putHistory(store)
  await ok(store.run('resume', cids[1]!, '--as', agents.a))
})

const copy = (): Promise<TestStore> => copyStore(store, path.join(shared, `copy-${copies++}`))
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

/** All rows in the long form, else two of each index. */
function someOf<T>(rows: readonly (readonly [key: string, value: T])[]): typeof rows {
  const indexOf = (key: string): string => key.split('!')[1]!
  return rows.filter(([key], i) => isSoak || indexOf(rows[i - 2]?.[0] ?? '!!') !== indexOf(key))
}

async function setRow(to: TestStore, key: string, values: readonly string[]): Promise<void> {
  await withLevel(to.store, (level) => level.put(key, Buffer.from(JSON.stringify(values))))
}

describe('rows that do not follow from the blocks', () => {
  it('are named by verify --all, whichever index they are of', async () => {
    const { rows } = await readRaw(store)
    const derived = [...rows].filter(([key]) => !/^!(?:made|marks|meta)!/.test(key))
    expect(new Set(derived.map(([key]) => key.split('!')[1]))).toEqual(
      new Set(['bodies', 'entries', 'heads', 'names', 'nodes', 'tips']),
    )
    const unseen: string[] = []
    for (const [key] of someOf(derived)) {
      const broken = await copy()
      await withLevel(broken.store, (level) => level.del(key))
      const { exit } = await broken.run('verify', '--all')
      if (exit !== 5) unseen.push(`exit ${exit} without ${JSON.stringify(key)}`)
    }
    expect(unseen).toEqual([])
  })

  it('are named by verify --all when they name another entry', async () => {
    const { rows } = await readRaw(store)
    const derived = [...rows].filter(
      ([key, value]) => /^!(?:bodies|heads|names|tips)!/.test(key) && text(value).includes('bagu'),
    )
    const unseen: string[] = []
    for (const [key, value] of someOf(derived)) {
      const other = cids.find((cid) => !text(value).includes(cid))!
      const broken = await copy()
      await setRow(broken, key, [other])
      const { exit } = await broken.run('verify', '--all')
      if (exit !== 5) unseen.push(`exit ${exit} with another entry in ${JSON.stringify(key)}`)
    }
    expect(unseen).toEqual([])
  })

  it('are named by verify --all when no entry accounts for them', async () => {
    const unseen: string[] = []
    const other = `baguqeera${'a'.repeat(52)}`
    for (const key of [
      '!heads!csag:ghost',
      '!names!csag:ghost\u0000=R1',
      `!bodies!${other}`,
      `!tips!csag:ghost\u0000did:key:z6MkNobody`,
      `!nodes!csag:ghost\u0000${other}`,
      `!entries!csag:ghost\u0000${'1'.padStart(16, '0')}\u0000${other}`,
      `!entries!${stream}\u0000${'9'.padStart(16, '0')}\u0000${cids[0]!}`,
    ]) {
      const broken = await copy()
      await setRow(broken, key, [cids[0]!])
      const { exit } = await broken.run('verify', '--all')
      if (exit !== 5) unseen.push(`exit ${exit} with ${JSON.stringify(key)}`)
    }
    expect(unseen).toEqual([])
  })

  it('do not lead resume of a stream back to what was followed already', async () => {
    const broken = await copy()
    await setRow(broken, `!heads!${stream}`, [cids[0]!])
    const { exit, out } = await broken.run('resume', stream, '--json')
    expect(out).not.toContain('"verdict":"complete"')
    expect(exit).not.toBe(0)
  })

  it('can not make marks of verified signatures', async () => {
    const broken = await copy()
    const raw = await readRaw(broken)
    const marks = [...raw.rows].filter(([key]) => key.startsWith('!marks!'))
    expect(marks.length).toBeGreaterThan(0)
    const [, mark] = marks[0]!
    const entries = entriesIn(raw, () => true)
    // every entry gets a mark of another: none may count
    for (const cid of entries)
      await setRow(broken, `!marks!${cid}`, JSON.parse(text(mark)) as string[])
    const { out } = await broken.run('verify', '--all', '--json')
    const { checked } = JSON.parse(out) as { checked: { entries: number; signatures: number } }
    expect(checked.entries - checked.signatures).toBeLessThanOrEqual(1)
  })
})
