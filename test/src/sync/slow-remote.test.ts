import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { IncomingMessage as Request, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { signerOfSeed } from '../../../keys/signer.ts'
import { HttpTransport } from '../../../src/sync/http-transport.ts'
import type { Transport } from '../../../src/sync/protocol.ts'
import { SshTransport } from '../../../src/sync/ssh-transport.ts'
import { bytesOf } from '../../support/envelope.ts'
import { packed } from '../../support/http-client.ts'
import { makeSharedFolder } from '../../support/store.ts'
import { cidTextOf } from '../../../store/cid-text.ts'

const idleMs = 700
const shared = await makeSharedFolder()
const servers: Server[] = []
const large = bytesOf('large', 40_000)
const block = { cid: cidTextOf(large, 'raw'), bytes: large }
const answer = await packed({ control: { is: 'push', taken: 1 }, blocks: [block] })
const empty = await packed({ control: { is: 'push' }, blocks: [] })
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** Asks for all that a remote has to say, and returns the code of the fault that it ends with. */
async function codeOf(transport: Transport, sizeBytes = 10): Promise<string> {
  const bytes = bytesOf('x', sizeBytes)
  const blocks = [{ cid: cidTextOf(bytes, 'raw'), bytes }]
  try {
    const answer = await transport.ask({ control: { is: 'push' }, blocks })
    for await (const { cid } of answer.blocks) expect(cid).toBe('no block came')
    return 'answered'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  } finally {
    await transport[Symbol.asyncDispose]()
  }
}

const failed = 'HSTORE_REMOTE_FAILED'
const invalid = 'HSTORE_REMOTE_INVALID'

type Says = (response: ServerResponse, request: Request) => void

const overHttp: readonly (readonly [string, string, Says])[] = [
  ['says nothing', failed, () => undefined],
  ['begins, and says no more', failed, (response) => response.write(answer.subarray(0, 100))],
  [
    'says what is an answer, a byte now and then',
    failed,
    (response) => {
      let at = 0
      const timer = setInterval(() => response.write(answer.subarray(at, ++at)), 20)
      response.on('close', () => clearInterval(timer))
    },
  ],
  [
    'says what is no answer, without end',
    invalid,
    (response) => drip(response, bytesOf('noise', 60_000), 0),
  ],
  [
    // a stored block of deflate each time: all of it unpacks
    'says what unpacks, without end',
    invalid,
    (response) => drip(response, storedZeros(60_000), 0),
  ],
  [
    'tells of a huge length, and breaks off',
    failed,
    (response) => {
      response.writeHead(200, { 'content-length': '999999999999' })
      response.write(answer.subarray(0, 100))
      setTimeout(() => response.destroy(), 50)
    },
  ],
  [
    'tells of a huge length, and says no more',
    failed,
    (response) => {
      response.writeHead(200, { 'content-length': '999999999999' })
      response.write(answer.subarray(0, 100))
    },
  ],
  [
    'has headers without end',
    failed,
    (response) => {
      response.socket?.write(`HTTP/1.1 200 OK\r\n`)
      drip(response.socket!, Buffer.from(`x-${'y'.repeat(1000)}: z\r\n`), 0)
    },
  ],
  [
    'sends to elsewhere',
    failed,
    (response, { headers }) => {
      response.writeHead(307, { location: `http://${headers.host}/elsewhere` })
      response.end()
    },
  ],
]

function drip(to: NodeJS.WritableStream, bytes: Uint8Array, everyMs: number): void {
  const timer = setInterval(() => to.write(bytes), everyMs)
  to.on('close', () => clearInterval(timer))
  to.on('error', () => undefined)
}

function storedZeros(size: number): Uint8Array {
  const head = Buffer.from([0, size & 255, size >> 8, ~size & 255, (~size >> 8) & 255])
  return Buffer.concat([head, Buffer.alloc(size)])
}

describe('a remote over HTTP', () => {
  it.each(overHttp)(
    'that %s is left: %s',
    async (_name, code, say) => {
      const server = createServer((request, response) => {
        request.resume()
        response.on('error', () => undefined)
        say(response, request)
      })
      servers.push(server)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const options = { signer: undefined, idleMs, clock: Date.now }
      expect(await codeOf(new HttpTransport(url, options))).toBe(code)
    },
    30_000,
  )

  it('is given time for what is sent to it, at 1 KiB/s', async () => {
    const server = createServer((request, response) => {
      request.resume()
      request.on('end', () => setTimeout(() => response.end(answer), 3 * idleMs))
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const to = (): Transport =>
      new HttpTransport(url, { signer: undefined, idleMs, clock: Date.now })
    await using transport = to()
    const blocks = [block]
    const { control } = await transport.ask({ control: { is: 'push' }, blocks })
    expect(control).toMatchObject({ is: 'push' })
    // a question alone has no such time
    expect(await codeOf(to())).toBe(failed)
  })

  it.each([
    ['is asked again, each time signed anew', 2, 'answered'],
    ['is left in the end', 99, failed],
  ])('that has no room %s', async (_what, busy, code) => {
    const nonces = new Set<string>()
    let asked = 0
    const server = createServer((request, response) => {
      request.resume()
      nonces.add(String(request.headers['signature-input']))
      asked += 1
      if (asked <= busy) response.writeHead(503, { 'retry-after': '0' }).end('busy')
      else response.end(empty)
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const signer = signerOfSeed(bytesOf('signer', 32))
    expect(await codeOf(new HttpTransport(url, { signer, idleMs, clock: Date.now }))).toBe(code)
    expect(asked).toBeGreaterThan(2)
    expect(asked).toBeLessThan(20)
    expect(nonces.size).toBe(asked)
  })

  it('that is slow, but not too slow, is waited for', async () => {
    const server = createServer((request, response) => {
      request.resume()
      void (async () => {
        for (let at = 0; at < answer.length; at += 2000) {
          response.write(answer.subarray(at, at + 2000))
          await new Promise((resolve) => setTimeout(resolve, 100))
        }
        response.end()
      })()
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const transport = new HttpTransport(url, { signer: undefined, idleMs, clock: Date.now })
    const { blocks: came } = await transport.ask({ control: { is: 'push' }, blocks: [] })
    const cids: string[] = []
    for await (const { cid } of came) cids.push(cid)
    expect(cids).toEqual([block.cid])
  }, 30_000)
})

const overSsh: readonly (readonly [string, string, string])[] = [
  ['says nothing', failed, 'exec sleep 600'],
  ['takes nothing', failed, 'exec sleep 600 <&-'],
  [
    'says one byte now and then',
    failed,
    String.raw`printf '\000\000\100\000'; while printf x; do sleep 0.05; done`,
  ],
  ['closes its mouth and stays', failed, 'exec sleep 600 >&-'],
  ['talks beside the protocol without end', failed, 'yes >&2'],
  ['says zeros without end', invalid, 'exec cat /dev/zero'],
  ['says noise without end', invalid, 'exec cat /dev/urandom'],
  ['tells of a huge piece', invalid, String.raw`printf '\377\377\377\377x'; sleep 600`],
  ['ends in a piece', invalid, String.raw`printf '\000\000\000\100x'; sleep 0.5`],
  ['ends at once', failed, 'exit 1'],
]

describe('a remote over ssh', () => {
  it.each(overSsh)(
    'that %s is left: %s',
    async (name, code, script) => {
      const file = path.join(shared, name.replaceAll(' ', '-'))
      await writeFile(file, `#!/bin/sh\n${script}\n`, { mode: 0o700 })
      const transport = new SshTransport('ssh://host/store', { command: [file], idleMs })
      // more than a pipe holds
      const sizeBytes = name === 'takes nothing' ? 3_000_000 : 10
      expect(await codeOf(transport, sizeBytes)).toBe(code)
    },
    30_000,
  )
})
