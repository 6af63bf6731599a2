import { request } from 'node:http'
import path from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { contentDigest, signRequest } from '../../keys/http-signature.ts'
import type { Signer } from '../../keys/signer.ts'
import { HashedBlock } from '../../store/block.ts'
import { encodeForm, linkForm } from '../../store/canonical.ts'
import { frameCar } from '../../store/car-write.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { bytesOf } from '../support/envelope.ts'
import { signerOf } from '../support/forge.ts'
import { packed, post, told } from '../support/http-client.ts'
import type { ServeProcess } from '../support/serve-process.ts'
import { startServe } from '../support/serve-process.ts'
import { agents, makeSharedFolder, makeTestStore } from '../support/store.ts'

const shared = await makeSharedFolder()
const there = await makeTestStore(path.join(shared, 'there'))
const count = 100
let server: ServeProcess
let writer: Signer

beforeAll(async () => {
  writer = await signerOf(there, agents.merger)
})
beforeEach(async () => {
  server = await startServe(there)
})
afterEach(() => server.close())

/** Posts the same content many times at once, signed by a key that may write, and returns how each was answered. */
async function crowd(content: Uint8Array): Promise<readonly (number | string)[]> {
  const digest = contentDigest(content)
  const { host, port } = new URL(server.url)
  const signed = { method: 'POST', authority: host, target: '/hstore', digest }
  const one = (i: number): Promise<number | string> =>
    new Promise((resolve) => {
      const facts = {
        created: Math.floor(Date.now() / 1000),
        nonce: Buffer.from(`nonce-${i}`.padEnd(16)).toString('base64url'),
      }
      const headers = {
        host,
        'content-digest': digest,
        'content-length': content.length,
        ...signRequest(signed, facts, writer),
      }
      const options = { method: 'POST', path: '/hstore', port, host: '127.0.0.1', headers }
      const sent = request(options, (answer) => {
        resolve(answer.statusCode ?? 0)
        answer.resume()
      })
      sent.on('error', (error) => resolve(error.message))
      sent.end(content)
    })
  return Promise.all(Array.from({ length: count }, (_, i) => one(i)))
}

const mib = 1024 * 1024
const parts = Array.from({ length: 15 }, (_, i) => HashedBlock.of(bytesOf(`part ${i}`, mib), 'raw'))
const artifact = linkForm(cidTextOf(bytesOf('artifact', 9), 'raw'))
const order = parts.map(({ cid }) => [linkForm(cid)])

const gift = { is: 'give', artifact, at: 0, size: 200 * mib, order }
/** A few KiB that unpack to nearly all that a message may have. */
const bomb = (control: object): Uint8Array => {
  const zeros = HashedBlock.of(new Uint8Array(2 * mib - 1), 'raw')
  const root = HashedBlock.of(encodeForm(control as never), 'dag-json')
  return deflateRawSync(Buffer.concat([...frameCar([root, ...Array(7).fill(zeros)])]), { level: 9 })
}

it.each([
  ['parts of one large artifact', 200, () => packed({ control: gift, blocks: parts })],
  ['a few bytes that become many', 200, () => bomb(gift)],
  // what waits in quarantine is read again by the next
  ['blocks', 300, () => packed({ control: { is: 'push' }, blocks: parts })],
])(
  'a hundred requests at once of a key that may write, with %s, have a bounded room',
  async (_what, mostMib, make) => {
    const answers = await crowd(await make())
    // who finds no room is told so
    expect(answers.filter((answer) => answer !== 200 && answer !== 503)).toEqual([])
    expect(answers).toContain(200)
    const after = await told(await post(server.url, { is: 'hello', v: 1 }, { signer: writer }))
    expect(after['is']).toBe('hello')
    expect(server.peakMib() ?? 0).toBeLessThanOrEqual(mostMib)
  },
  120_000,
)
