import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { envelopeOf, randomOf } from '../support/envelope.ts'
import { historyWorkspace } from '../support/history.ts'
import { payloadIn, readRaw } from '../support/raw-blocks.ts'
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

const seed = 5
const rounds = process.env['HSTORE_SOAK'] ? 400 : 8
const shared = await makeSharedFolder()
const stream = `csag:${historyWorkspace}`
let store: TestStore
let cids: readonly string[]
let rows: readonly string[]
let odd: readonly string[]

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'ground'))
  cids = await putHistory(store)
  await ok(store.run('resume', cids[1]!, '--as', agents.a))
  const raw = await readRaw(store)
  rows = [...raw.rows.keys()].filter((key) => key !== '!meta!format')
  const { body } = payloadIn(raw.blocks.get(cids[3]!)!)!
  const artifact = [...raw.blocks.keys()].find((cid) => cid.startsWith('bafkrei'))!
  odd = [
    '',
    'garbage',
    '[',
    '[1]',
    '[[]]',
    '{"a":["b"]}',
    'null',
    '[]',
    '[""]',
    '["nonsense"]',
    '["__proto__","constructor"]',
    JSON.stringify([body['/']]),
    JSON.stringify([artifact]),
    JSON.stringify([`baguqeera${'a'.repeat(52)}`]),
    JSON.stringify([cids[0], cids[0], cids[3], cids[1]]),
    JSON.stringify([cids[2]!.toUpperCase()]),
    JSON.stringify(['\u0000', '\n', cids[2]]),
  ]
})

/** Each verb that reads rows, and what has to come of it: never a fault of hstore itself; verify sees all but marks. */
async function faultsOf(broken: TestStore, isMark: boolean): Promise<string[]> {
  const child = envelopeOf({ workspace: historyWorkspace, revision: 'N', author: agents.a })
  const lines: readonly (readonly string[])[] = [
    ['verify', '--all'],
    ['heads'],
    ['resume', stream],
    ['resume', cids[3]!, '--as', agents.a],
    ['log', cids[3]!],
    ['verify', cids[3]!],
    ['roster', 'show'],
    ['put', '-', '--as', agents.a],
  ]
  const faults: string[] = []
  for (const argv of lines) {
    const ran = await broken.runWith({ stdin: JSON.stringify(child) }, ...argv, '--json')
    const isBug = `${ran.err}${ran.out}`.includes('HSTORE_BUG')
    const isSeen = argv[1] !== '--all' || isMark || ran.exit === 5
    if (isBug || !isSeen) faults.push(`${argv.join(' ')}: ${ran.exit} ${ran.err}`)
  }
  return faults
}

describe('rows that hold anything at all', () => {
  it(`never make a verb fail as a fault of hstore, ${rounds} times (seed ${seed})`, async () => {
    const random = randomOf(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
    const faults: string[] = []
    for (let round = 0; round < rounds; round++) {
      const broken = await copyStore(store, path.join(shared, `copy-${round}`))
      const key = pick(rows)
      const value = pick(odd)
      await withLevel(broken.store, (level) => level.put(key, Buffer.from(value)))
      const found = await faultsOf(broken, /^!(?:made|marks)!/.test(key))
      faults.push(...found.map((fault) => `${JSON.stringify(key)} = ${value}: ${fault}`))
    }
    expect(faults).toEqual([])
  })

  it('nor keys that no index has', async () => {
    const keys = [
      '!entries!x',
      '!entries!',
      '!tips!',
      '!heads!\u0000',
      '!blocks!nonsense',
      'loose',
      '!nodes!a\u0000b',
    ]
    const faults: string[] = []
    for (const [i, key] of keys.entries()) {
      const isForeign = key === 'loose'
      const broken = await copyStore(store, path.join(shared, `key-${i}`))
      await withLevel(broken.store, (level) => level.put(key, Buffer.from('["x"]')))
      faults.push(
        ...(await faultsOf(broken, isForeign)).map((fault) => `${JSON.stringify(key)}: ${fault}`),
      )
    }
    expect(faults).toEqual([])
  })
})
