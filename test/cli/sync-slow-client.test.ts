import { connect } from 'node:net'
import type { Socket } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { constants, deflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { contentDigest } from '../../keys/http-signature.ts'
import { HashedBlock } from '../../store/block.ts'
import { linkForm } from '../../store/canonical.ts'
import { frameCar } from '../../store/car-write.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import { signerOf } from '../support/forge.ts'
import { packed, post, told } from '../support/http-client.ts'
import type { ServeProcess } from '../support/serve-process.ts'
import { startServe } from '../support/serve-process.ts'
import { agents, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'

const stream = 'csag:csag:handoff/big'
const shared = await makeSharedFolder()
const there = await makeTestStore(path.join(shared, 'there'))
const file = bytesOf('big', 8_000_000)
const count = 120
let server: ServeProcess
let entry: CidText

beforeAll(async () => {
  const files = { 'big.bin': file }
  const stated = { workspace: 'csag:handoff/big', revision: 'R1', author: agents.merger, files }
  await ok(there.run('put', await writeEnvelope(path.join(there.root, 'w'), stated)))
  const { out } = await ok(there.run('log', stream, '--json'))
  entry = (JSON.parse(out) as { entries: [{ cid: CidText }] }).entries[0].cid
  server = await startServe(there, '--public', stream)
}, 60_000)
afterAll(() => server.close())

/** Sends the same from many sockets, that read nothing, and returns what is served to a key meanwhile. */
async function crowd(content: Uint8Array, length: number): Promise<unknown> {
  const { host, port } = new URL(server.url)
  const head = `POST /hstore HTTP/1.1\r\nHost: ${host}\r\nContent-Digest: ${contentDigest(content)}\r\nContent-Length: ${length}\r\n\r\n`
  const sockets: Socket[] = []
  try {
    for (let i = 0; i < count; i++) {
      const socket = connect(Number(port), '127.0.0.1')
      socket.on('error', () => undefined)
      socket.pause()
      socket.write(head)
      socket.write(content)
      sockets.push(socket)
      await sleep(5)
    }
    await sleep(1000)
    const signer = await signerOf(there, agents.merger)
    return (await told(await post(server.url, { is: 'hello', v: 1 }, { signer })))['is']
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

it('clients that ask for much and read nothing have a bounded room, and others are served', async () => {
  const artifact = linkForm(cidTextOf(file, 'raw'))
  const control = { is: 'piece', stream, entry: linkForm(entry), artifact, at: 0 }
  const content = await packed({ control, blocks: [] })
  expect(await crowd(content, content.length)).toBe('hello')
  expect(server.peakMib() ?? 0).toBeLessThanOrEqual(250)
}, 60_000)

it('what nobody has signed is not unpacked before it is whole', async () => {
  const car = Buffer.concat([...frameCar([HashedBlock.of(new Uint8Array(4 * 1024 * 1024), 'raw')])])
  const cut = deflateRawSync(car.subarray(0, -1), { level: 9, finishFlush: constants.Z_SYNC_FLUSH })
  expect(await crowd(cut, cut.length + 1000)).toBe('hello')
  expect(server.peakMib() ?? 0).toBeLessThanOrEqual(250)
}, 60_000)
