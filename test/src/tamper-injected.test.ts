import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { keyPath } from '../../keys/key-ring.ts'
import { pae } from '../../keys/pae.ts'
import type { Signer } from '../../keys/signer.ts'
import { openSigner, signerOfSeed } from '../../keys/signer.ts'
import { decodeBlock, encodeBlock } from '../../store/codec.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { bytesOf } from '../support/envelope.ts'
import { historyWorkspace } from '../support/history.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
  withLevel,
} from '../support/store.ts'

type Payload = Record<string, unknown>
/** An entry as decoded; `sig` may be anything, or not there. */
interface Loose {
  payload: Payload
  sig?: unknown
}

const stream = `csag:${historyWorkspace}`
const shared = await makeSharedFolder()
let store: TestStore
let head = ''
let entry: Loose & { readonly sig: Uint8Array }
let merger: Signer
let copies = 0

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'ground'))
  head = (await putHistory(store))[3]!
  merger = await openSigner(keyPath(store.keys, agents.merger), undefined)
  const { outBytes } = await ok(store.run('get', head, '--entry'))
  entry = decodeBlock(outBytes) as typeof entry
})

const stranger = signerOfSeed(bytesOf('stranger', 32))

function signed(payload: Payload, signer: Signer): Loose {
  const message = pae('application/vnd.hstore.entry.v1+dag-json', encodeBlock(payload))
  return { payload, sig: signer.sign(message) }
}

/** Each way to make a false entry: what it is, what it says, the exit code that tells the truth. */
const cases: readonly (readonly [what: string, make: () => Loose, exit: 4 | 5])[] = [
  ['one byte of sig changed', () => ({ ...entry, sig: flipped(entry.sig) }), 5],
  ['signer replaced, sig kept', () => withPayload({ signer: stranger.did }), 5],
  [
    'author replaced, signed again by the old signer',
    () => signed({ ...entry.payload, author: agents.a }, merger),
    5,
  ],
  [
    'author and signer replaced, sig kept',
    () => withPayload({ author: agents.a, signer: stranger.did }),
    5,
  ],
  [
    'signer replaced by an unknown key, signed by it',
    () => signed({ ...entry.payload, signer: stranger.did }, stranger),
    4,
  ],
  [
    'another store, signed',
    () => signed({ ...entry.payload, store: entry.payload['body'] }, merger),
    5,
  ],
  ['another stream, signed', () => signed({ ...entry.payload, stream: 'csag:other' }, merger), 5],
  ['another name, signed', () => signed({ ...entry.payload, name: 'R9' }, merger), 5],
  ['another seq, signed', () => signed({ ...entry.payload, seq: 7 }, merger), 5],
  ['no parents, signed', () => signed({ ...entry.payload, parents: [] }, merger), 5],
  ['no sig', () => ({ payload: entry.payload }), 5],
  ['sig null', () => ({ ...entry, sig: null }), 5],
  ['sig empty', () => ({ ...entry, sig: new Uint8Array() }), 5],
  ['sig a text', () => ({ ...entry, sig: 'x'.repeat(64) }), 5],
  ['sig of 63 bytes', () => ({ ...entry, sig: entry.sig.slice(1) }), 5],
  ['sig of 64 zero bytes', () => ({ ...entry, sig: new Uint8Array(64) }), 5],
  [
    'sig for another payload type',
    () => ({ ...entry, sig: merger.sign(encodeBlock(entry.payload)) }),
    5,
  ],
  ['a key more in the block', () => ({ ...entry, note: 'verified' }) as Loose, 5],
  ['a key more in the payload', () => signed({ ...entry.payload, verdict: 'complete' }, merger), 5],
]

function withPayload(change: Payload): Loose {
  return { payload: { ...entry.payload, ...change }, sig: entry.sig }
}

function flipped(sig: Uint8Array): Uint8Array {
  const copy = sig.slice()
  copy[40]! ^= 1
  return copy
}

/** Puts a block into a copy of the store and names it as the one head; with `indexed` also in its other rows. */
async function inject(made: Loose, indexed: boolean): Promise<{ copy: TestStore; cid: string }> {
  const bytes = encodeBlock(made)
  const cid = cidTextOf(bytes, 'dag-json')
  const copy = await copyStore(store, path.join(shared, `copy-${copies++}`))
  const row = (values: readonly string[]): Uint8Array => Buffer.from(JSON.stringify(values))
  const seq = String(entry.payload['seq']).padStart(16, '0')
  const name = entry.payload['name'] as string
  await withLevel(copy.store, async (level) => {
    await level.put(`!blocks!${cid}`, bytes)
    await level.put(`!heads!${stream}`, row([cid]))
    if (!indexed) return
    await level.put(`!entries!${stream}\u0000${seq}\u0000${cid}`, row([merger.did]))
    await level.put(`!names!${stream}\u0000=${name}`, row([cid]))
    await level.put(`!tips!${stream}\u0000${merger.did}`, row([cid]))
    await level.put(`!bodies!${String(entry.payload['body'])}`, row([cid]))
  })
  return { copy, cid }
}

describe('a false entry in the database, named as head', () => {
  for (const [i, [what, make, exit]] of cases.entries()) {
    for (const indexed of process.env['HSTORE_SOAK'] ? [false, true] : [i % 2 === 0]) {
      it(`is refused: ${what}${indexed ? ', in all indexes' : ''}`, async () => {
        const { copy, cid } = await inject(make(), indexed)
        expect(cid).not.toBe(head)
        const all = await copy.run('verify', '--all')
        expect(all.out).toContain(cid)
        expect([4, 5]).toContain(all.exit)
        const one = await copy.run('verify', cid)
        expect({ exit: one.exit, named: `${one.out}${one.err}`.includes(cid) }).toEqual({
          exit,
          named: true,
        })
        for (const ref of [cid, stream]) {
          const resumed = await copy.run('resume', ref, '--json')
          expect(resumed.exit).toBe(exit)
          // a row that names what is not its own says no more than that the store was changed
          if (resumed.err.includes('HSTORE_STORE_DAMAGED')) continue
          expect(resumed.out).toContain('"verdict":"unsafe"')
          const report = json<{ certificate: unknown; actions: unknown[] }>(resumed)
          expect(report).toMatchObject({ verdict: 'unsafe', certificate: null, actions: [] })
        }
        const full = await copy.run('resume', cid, '--full', '--no-certificate', '--as', agents.a)
        expect(full.exit).toBe(exit)
      })
    }
  }

  it('is neither shown nor laid out when its signature does not stand', async () => {
    const { copy, cid } = await inject({ ...entry, sig: new Uint8Array(64) }, true)
    const out = path.join(copy.root, 'out')
    for (const line of [['heads'], ['show', cid], ['get', cid], ['get', cid, '--out', out]]) {
      const ran = await copy.run(...line)
      expect({ line, exit: ran.exit, out: ran.out }).toEqual({ line, exit: 5, out: '' })
      expect(ran.err).toContain(cid)
    }
  })
})
