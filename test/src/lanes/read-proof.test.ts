import { createHash } from 'node:crypto'
import path from 'node:path'
import { expect, it } from 'vitest'
import { agents, json, makeTestStore, ok } from '../../support/store.ts'
import type { TestStore } from '../../support/store.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'

const { a, b } = agents

interface Signed {
  readonly payload: {
    readonly parents: readonly { '/': string }[]
    readonly prev: readonly { '/': string }[]
    readonly signer: string
  }
}
interface Observed {
  readonly held: { '/': { bytes: string } }
  readonly through: readonly { '/': string }[]
}

/** A lane read from the outside: every block as `hstore get` gives it. */
class Outside {
  readonly #store: TestStore
  readonly #blocks = new Map<string, readonly [entry: Uint8Array, body: Uint8Array]>()

  constructor(store: TestStore) {
    this.#store = store
  }

  async read(lane: string): Promise<void> {
    const log = json<{ entries: { cid: string }[] }>(
      await ok(this.#store.run('lane', 'log', lane, '--json')),
    )
    for (const { cid } of log.entries) {
      const entry = (await ok(this.#store.run('get', cid, '--entry'))).outBytes
      const body = (await ok(this.#store.run('get', cid))).outBytes
      this.#blocks.set(cid, [entry, body])
    }
  }

  signed(cid: string): Signed {
    return JSON.parse(Buffer.from(this.#blocks.get(cid)![0]).toString()) as Signed
  }

  observed(cid: string): Observed {
    const { observed } = JSON.parse(Buffer.from(this.#blocks.get(cid)![1]).toString()) as {
      observed: Observed
    }
    return observed
  }

  links(cid: string): readonly string[] {
    const { parents, prev } = this.signed(cid).payload
    return [...parents, ...prev].map((link) => link['/'])
  }

  reach(cids: readonly string[]): Set<string> {
    const found = new Set(cids)
    for (const cid of found) for (const link of this.links(cid)) found.add(link)
    return found
  }

  generation(cid: string): number {
    return 1 + Math.max(0, ...this.links(cid).map((link) => this.generation(link)))
  }

  /** The digest as docs/format.md, «Read proof», has it. */
  digest(did: string, through: readonly string[], before: readonly string[]): string {
    const left = this.reach(before)
    const cids = [...this.reach(through)].filter((cid) => !left.has(cid))
    cids.sort((x, y) => this.generation(x) - this.generation(y) || (x < y ? -1 : 1))
    const hash = createHash('sha256')
    const parts = cids.flatMap((cid) => [...this.#blocks.get(cid)!])
    for (const part of [Buffer.from('hstore.read.v1'), Buffer.from(did), ...parts]) {
      const length = Buffer.alloc(8)
      length.writeBigUInt64BE(BigInt(part.length))
      hash.update(length).update(part)
    }
    return hash.digest('base64').replaceAll('=', '')
  }
}

it('a read proof is the digest that the format says', async () => {
  const store = await makeTestStore(path.join(await makeTempFolder(), 's'))
  const act = async (agent: string, ...argv: string[]): Promise<string> =>
    json<{ cid: string }>(await ok(store.run('lane', ...argv, '--as', agent, '--json'))).cid
  await act(a, 'open', 'docs')
  const first = await act(a, 'status', 'docs', 'ON')
  const second = await act(a, 'status', 'docs', 'FURTHER')
  await act(b, 'signal', 'docs', '--surface', 'x', '--status', 'READY', '--for', '60')
  const offer = await act(a, 'propose', 'docs', '--to', b, '--surface', 'x')
  await act(b, 'read', 'docs')
  const ack = await act(b, 'ack', 'docs')
  const outside = new Outside(store)
  await outside.read('docs')
  const through = (cid: string): string[] => outside.observed(cid).through.map((link) => link['/'])
  const wanted: readonly (readonly [cid: string, before: readonly string[]])[] = [
    [first, []],
    [second, through(first)],
    [offer, through(second)],
    [ack, []],
  ]
  for (const [cid, before] of wanted) {
    const { signer } = outside.signed(cid).payload
    expect(outside.observed(cid).held['/'].bytes).toBe(outside.digest(signer, through(cid), before))
  }
  // b was handed everything, its own signal among it
  expect(outside.reach(through(ack)).size).toBe(5)
})
