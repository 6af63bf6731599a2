import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { randomOf } from '../support/envelope.ts'
import { startPuts } from '../support/put-processes.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  filesIn,
  json,
  makeSharedFolder,
  makeTestStore,
} from '../support/store.ts'

const seed = 9
const rounds = process.env['HSTORE_SOAK'] ? 200 : 8
const roundsPerStore = 10
const shared = await makeSharedFolder()
let empty: TestStore

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
})

/** Lets a process put until it is killed after some time; half of the times it has just begun. */
async function putUntilKilled(
  store: TestStore,
  round: number,
  random: number,
): Promise<readonly string[]> {
  const bundle = path.join(store.root, `bundle-${round}`)
  const { store: folder, keys } = store
  const writer = startPuts('endless', folder, keys, agents.a, `crash:${round}`, bundle)
  if (round % 2 === 0) {
    while (writer.printed().length < 1 + (round % 5) && writer.said() === '') await sleep(2)
    await sleep(random * 60)
  } else await sleep(150 + random * 500)
  await writer.kill()
  expect(writer.said()).toBe('')
  await rm(bundle, { recursive: true, force: true })
  return writer.printed()
}

/** CIDv1, raw, sha2-256 in base32: the digest that a file's name stands for, apart from hstore's own code. */
function nameOf(bytes: Uint8Array): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
  const cid = [0x01, 0x55, 0x12, 0x20, ...createHash('sha256').update(bytes).digest()]
  const bits = cid.map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  return `b${groups.map((group) => alphabet[parseInt(group.padEnd(5, '0'), 2)]).join('')}`
}

async function expectWhole(store: TestStore, acknowledged: ReadonlySet<string>): Promise<void> {
  const verified = await store.run('verify', '--all', '--json')
  expect(json(verified)).toMatchObject({ ok: true })
  await using open = await openStore({ store: store.store, keys: store.keys, agent: agents.merger })
  for (const cid of acknowledged) {
    expect((await open.entry(cid)).cid).toBe(cid)
  }
  for (const file of await filesIn(path.join(store.store, 'artifacts'))) {
    expect(nameOf(await readFile(file))).toBe(path.basename(file))
  }
}

describe('a process that is killed while it puts', () => {
  it(`loses nothing that it had printed, in ${rounds} rounds (seed ${seed})`, async () => {
    const random = randomOf(seed)
    let store = empty
    let acknowledged = new Set<string>()
    let total = 0
    for (let round = 0; round < rounds; round++) {
      if (round % roundsPerStore === 0) {
        if (round > 0) await rm(store.root, { recursive: true })
        store = await copyStore(empty, path.join(shared, `store-${round}`))
        acknowledged = new Set()
      }
      const printed = await putUntilKilled(store, round, random())
      for (const cid of printed) acknowledged.add(cid)
      total += printed.length
      await expectWhole(store, acknowledged)
    }
    expect(total).toBeGreaterThan(rounds)
  })
})
