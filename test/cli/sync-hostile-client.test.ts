import { once } from 'node:events'
import { connect } from 'node:net'
import path from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Signer } from '../../keys/signer.ts'
import { signerOfSeed } from '../../keys/signer.ts'
import { decodeEntry } from '../../src/entry/decode.ts'
import { packCids } from '../../src/sync/protocol.ts'
import type { Block } from '../../store/block.ts'
import type { JsonForm, JsonMap } from '../../store/canonical.ts'
import { linkForm } from '../../store/canonical.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import type { CidText } from '../../store/cid-text.ts'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import { amendRoster, openBelow, signerOf } from '../support/forge.ts'
import { historyWorkspace } from '../support/history.ts'
import { packed, post, told } from '../support/http-client.ts'
import type { ServeProcess } from '../support/serve-process.ts'
import { startServe } from '../support/serve-process.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  digestOf,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
} from '../support/store.ts'

const stream = `csag:${historyWorkspace}`
const secret = 'csag:csag:handoff/secret'
const shared = await makeSharedFolder()
let there: TestStore
let server: ServeProcess
let open: ServeProcess
let merger: Signer
let reader: Signer
let before: string

const stranger = cidTextOf(bytesOf('stranger', 9), 'dag-json')
const strangerLink = linkForm(stranger)
const most = Number.MAX_SAFE_INTEGER

beforeAll(async () => {
  there = await makeTestStore(path.join(shared, 'there'))
  await putHistory(there)
  const files = { 's.txt': 'secret', 'l.bin': bytesOf('secret', 1_200_000) }
  const small = { workspace: 'csag:handoff/secret', revision: 'R1', author: agents.merger, files }
  await ok(there.run('put', await writeEnvelope(path.join(there.root, 'w'), small)))
  await amendRoster(there, ({ agents: all }) => ({
    agents: all.map((agent) => (agent.id === agents.a ? { ...agent, read: [stream] } : agent)),
  }))
  reader = await signerOf(there, agents.a)
  merger = await signerOf(there, agents.merger)
  server = await startServe(there)
  open = await startServe(there, '--public', stream)
  // fingerprints of ranges are remembered when they are asked for first
  for (const signer of [merger, reader]) await post(server.url, { is: 'hello', v: 1 }, { signer })
  before = await digestOf(there.store)
}, 60_000)
afterAll(async () => {
  await server.close()
  await open.close()
})

// whatever a client says: a process that has answered all before has needed no more
afterEach(() => {
  for (const one of [server, open]) expect(one.peakMib() ?? 0).toBeLessThanOrEqual(200)
})

const kinds = ['no', 'compare', 'order', 'want', 'blocks', 'piece', 'waiting', 'push', 'give']
const rows = (count: number, row: JsonForm): JsonForm[] => Array.from({ length: count }, () => row)

/** Questions that are none of ours: each is refused, or answered as for what is not there. */
const questions: readonly (readonly [string, JsonMap])[] = [
  ['nothing', {}],
  ['a kind that is a number', { is: 1 }],
  ['an unknown kind', { is: 'delete' }],
  ['a kind of the object’s own', { is: '__proto__' }],
  ['a kind that is a method', { is: 'constructor' }],
  ['an answer', { is: 'no', code: 'X', message: 'x' }],
  ['nodes that are a text', { is: 'compare', nodes: 'x' }],
  ['nodes that are numbers', { is: 'compare', nodes: [1] }],
  ['a node without a level', { is: 'compare', nodes: [[stream]] }],
  ['a node below the leaves', { is: 'compare', nodes: [[stream, -1, 0, '']] }],
  ['a node above all', { is: 'compare', nodes: [[stream, most, 0, '']] }],
  ['a node beyond the end', { is: 'compare', nodes: [[stream, 0, most, '']] }],
  ['too many nodes', { is: 'compare', nodes: rows(1025, [stream, 0, 0, '']) }],
  ['a stream that is none', { is: 'compare', nodes: [['\u0000', 0, 0, '']] }],
  ['a stream of path tricks', { is: 'compare', nodes: [['../../etc', 0, 0, '']] }],
  ['a stream with the end of a key', { is: 'compare', nodes: [[`${stream}\u00ff`, 0, 0, '']] }],
  ['a very long stream', { is: 'compare', nodes: [['x'.repeat(100_000), 0, 0, '']] }],
  ['the same node a thousand times', { is: 'compare', nodes: rows(1000, [stream, 1, 0, '']) }],
  ['an order of nothing', { is: 'order' }],
  ['an order of texts', { is: 'order', stream, entries: 'x', ends: [] }],
  ['an order of a stranger', { is: 'order', stream, entries: packCids([stranger]), ends: [] }],
  ['an order with odd ends', { is: 'order', stream, entries: packCids([]), ends: [['x', 'y']] }],
  ['a want of a text', { is: 'want', of: 'x' }],
  ['a want of half a digest', { is: 'want', of: [[stream, { '/': { bytes: 'AAAA' } }]] }],
  ['a want of a stranger', { is: 'want', of: [[stream, packCids([stranger])]] }],
  ['a want of too many', { is: 'want', of: rows(4097, [stream, packCids([])]) }],
  ['blocks of a text', { is: 'blocks', of: [[stream, 'x', []]] }],
  ['blocks of a stranger', { is: 'blocks', of: [[stream, strangerLink, [strangerLink]]] }],
  ['too many blocks', { is: 'blocks', of: [[stream, strangerLink, rows(5000, strangerLink)]] }],
  ['a piece of nothing', { is: 'piece' }],
  [
    'a piece at a place below 0',
    { is: 'piece', stream, entry: strangerLink, artifact: strangerLink, at: -1 },
  ],
  [
    'a piece of a stranger',
    { is: 'piece', stream, entry: strangerLink, artifact: strangerLink, at: most },
  ],
  ['what waits', { is: 'waiting' }],
  ['a push of nothing', { is: 'push' }],
  ['a gift of a stranger', { is: 'give', artifact: strangerLink, at: 0, order: [] }],
  ['a gift of a text', { is: 'give', artifact: 'x', at: 0, order: [] }],
]

const noise = bytesOf('noise', 3000)

/** Contents that are no message, whoever sends them. */
const contents: readonly (readonly [string, () => Promise<Uint8Array> | Uint8Array])[] = [
  ['no bytes', () => new Uint8Array()],
  ['noise', () => noise],
  ['noise in compression', () => deflateRawSync(noise)],
  ['a bomb', () => deflateRawSync(Buffer.alloc(100_000_000))],
  [
    'a message that is cut',
    async () => (await packed({ control: { is: 'push' }, blocks: [] })).subarray(0, 20),
  ],
  [
    'a message and more',
    async () =>
      Buffer.concat([await packed({ control: { is: 'hello', v: 1 }, blocks: [] }), noise]),
  ],
  [
    'a block of other bytes',
    () => packed({ control: { is: 'push' }, blocks: [{ cid: stranger, bytes: noise }] }),
  ],
  [
    'a question with blocks',
    () => packed({ control: { is: 'hello', v: 1 }, blocks: [blockOf('x')] }),
  ],
  [
    'more blocks than a message has',
    () =>
      packed({
        control: { is: 'push' },
        blocks: Array.from({ length: 20_001 }, (_, i) => blockOf(`${i}`)),
      }),
  ],
  [
    'a map that is no canonical one',
    () => packed({ control: { is: 'push' }, blocks: [jsonBlock('{"b":1,"a":2}')] }),
  ],
  [
    'an entry that nobody signed',
    () =>
      packed({
        control: { is: 'push' },
        blocks: [jsonBlock('{"payload":"e30","payloadType":"x","signatures":[]}')],
      }),
  ],
  [
    'a deep map',
    () =>
      packed({
        control: { is: 'push' },
        blocks: [jsonBlock(`${'['.repeat(9000)}${']'.repeat(9000)}`)],
      }),
  ],
]

function blockOf(text: string): Block {
  const bytes = bytesOf(text, 20)
  return { cid: cidTextOf(bytes, 'raw'), bytes }
}

function jsonBlock(text: string): Block {
  const bytes = new Uint8Array(Buffer.from(text))
  return { cid: cidTextOf(bytes, 'dag-json'), bytes }
}

/** What goes over a socket, and is no request or not all of one. */
const sockets: readonly (readonly [string, string])[] = [
  ['a huge length', 'POST /hstore HTTP/1.1\r\nhost: x\r\ncontent-length: 999999999999\r\n\r\n'],
  ['a length below 0', 'POST /hstore HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n'],
  [
    'two lengths',
    'POST /hstore HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
  ],
  ['chunks', 'POST /hstore HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
  [
    'both',
    'POST /hstore HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['no host', 'POST /hstore HTTP/1.1\r\ncontent-length: 0\r\n\r\n'],
  ['headers without end', `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(5000)}\r\n`],
  ['another protocol', 'SSH-2.0-x\r\n\r\n'],
  ['another method', 'DELETE /hstore HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['path tricks', 'GET /ipfs/../../etc/passwd HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a path with a zero', 'GET /ipfs/%00 HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a target with a host', 'GET http://other/ipfs/x HTTP/1.1\r\nhost: x\r\n\r\n'],
]

describe('a hostile client', () => {
  it.each(questions)('that may read one stream and asks %s', async (_name, control) => {
    const answer = await told(await post(server.url, control, { signer: reader }))
    expect(JSON.stringify(answer)).not.toContain('handoff/secret')
    expect(kinds).toContain(answer['is'])
    expect(await digestOf(there.store)).toBe(before)
  })

  it.each(contents)('that may write and sends %s', async (_name, make) => {
    const response = await post(server.url, await make(), { signer: merger })
    expect(['no', 'push', 'hello']).toContain((await told(response))['is'])
    expect(await digestOf(there.store)).toBe(before)
    const after = await told(await post(server.url, { is: 'hello', v: 1 }, { signer: merger }))
    expect(after['is']).toBe('hello')
  })

  it.each(sockets)('that sends %s', async (_name, text) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    let said = ''
    socket.on('data', (chunk) => {
      said += chunk.toString('latin1')
    })
    socket.end(text)
    await once(socket, 'close')
    expect(said).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(said).not.toContain(there.genesis)
    expect(await digestOf(there.store)).toBe(before)
  })
})

describe('no path of the server leaks a block', () => {
  const ipfs = (cid: string, more = ''): string => `/ipfs/${cid}?format=raw${more}`

  it('to clients that are nobody, unknown, or read other streams', async () => {
    const { out } = await ok(there.run('log', secret, '--json'))
    const [{ cid, body }] = (JSON.parse(out) as { entries: { cid: CidText; body: CidText }[] })
      .entries as [{ cid: CidText; body: CidText }]
    const list = await listOf(cid)
    const parts = [bytesOf('secret', 1_200_000), new Uint8Array(Buffer.from('secret'))]
    const hidden = [cid, body, list, ...parts.map((bytes) => cidTextOf(bytes, 'raw'))].filter(
      (one) => one !== undefined,
    )
    const unknown = signerOfSeed(bytesOf('nobody', 32))
    const clients: readonly (readonly [string, Signer | undefined])[] = [
      [server.url, undefined],
      [server.url, unknown],
      [server.url, reader],
      [open.url, undefined],
      [open.url, unknown],
    ]
    const open1 = (await ok(there.run('heads'))).out.split('\n').find((l) => l.startsWith(stream))!
    const readable = open1.split(' ')[1] as CidText
    const known = await post(server.url, askedFor(secret, cid, body)[0]!, { signer: merger })
    expect((await known.arrayBuffer()).byteLength).toBeGreaterThan(400)
    let asked = 0
    for (const [url, signer] of clients) {
      for (const one of hidden) {
        for (const at of [ipfs(one), ipfs(one, `&entry=${cid}`), ipfs(one, `&entry=${readable}`)]) {
          for (const method of ['GET', 'HEAD']) {
            const response = await fetch(`${url}${at}`, { method })
            expect(response.status, at).toBe(404)
            expect((await response.arrayBuffer()).byteLength).toBe(0)
            asked += 1
          }
        }
        for (const name of [secret, stream, 'roster', 'csag:nowhere'])
          for (const entry of [cid, readable])
            for (const control of askedFor(name, entry, one)) {
              const response = await post(url, control, signer === undefined ? {} : { signer })
              expect([200, 401]).toContain(response.status)
              const bytes = Buffer.from(await response.arrayBuffer())
              // what answers hold is small: no block of that stream is among it
              expect(bytes.length, JSON.stringify(control)).toBeLessThan(400)
              asked += 1
            }
      }
    }
    expect(asked).toBeGreaterThan(500)
  }, 120_000)

  async function listOf(cid: CidText): Promise<CidText | undefined> {
    await using context = await openBelow(there)
    return decodeEntry(cid, await context.db.get(cid)).artifacts
  }

  function askedFor(name: string, entry: CidText, cid: CidText): JsonMap[] {
    const isEntry = cid.startsWith('bag')
    const rest = [linkForm(entry), [linkForm(cid)]]
    return [
      { is: 'blocks', of: [[name, ...rest]] },
      { is: 'piece', stream: name, entry: linkForm(entry), artifact: linkForm(cid), at: 0 },
      ...(isEntry
        ? [
            { is: 'want', of: [[name, packCids([cid])]] },
            { is: 'order', stream: name, entries: packCids([cid]), ends: [] },
          ]
        : []),
    ]
  }
})
