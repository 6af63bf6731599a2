import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { contentDigest, findSignature, signRequest } from '../../keys/http-signature.ts'
import type { Signer } from '../../keys/signer.ts'
import { signerOfSeed } from '../../keys/signer.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import type { Message } from '../../store/wire.ts'
import { serveOverHttp } from '../../src/sync-verbs.ts'
import type { HttpServer } from '../../src/sync/http-listen.ts'
import type { Asked } from '../support/http-client.ts'
import { post, told } from '../support/http-client.ts'
import { bytesOf, writeEnvelope } from '../support/envelope.ts'
import { amendRoster, signerOf } from '../support/forge.ts'
import { historyWorkspace } from '../support/history.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  digestOf,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
  storeAt,
} from '../support/store.ts'

const stream = `csag:${historyWorkspace}`
const shared = await makeSharedFolder()
let full: TestStore
let copies = 0
const servers: HttpServer[] = []

const place = (): string => path.join(shared, `copy-${copies++}`)
const copyOf = (store: TestStore): Promise<TestStore> => copyStore(store, place())
const heads = async (store: TestStore): Promise<string> => (await store.run('heads')).out

beforeAll(async () => {
  full = await makeTestStore(place())
  await putHistory(full)
})
afterAll(async () => {
  for (const server of servers) await server.close()
})

async function serve(store: TestStore, publicStreams: readonly string[] = []): Promise<string> {
  const options = { store: store.store, keys: store.keys, waitMs: 20_000 }
  const listen = { host: '127.0.0.1', port: 0, publicStreams, clock: Date.now }
  const server = await serveOverHttp(options, listen)
  servers.push(server)
  return server.url
}

async function putOne(store: TestStore, name: string, files = {}): Promise<string> {
  const small = { workspace: `csag:handoff/${name}`, revision: 'R1', author: agents.merger, files }
  const file = await writeEnvelope(path.join(store.root, 'w'), small)
  return (await ok(store.run('put', file, '--as', agents.merger))).out.trim()
}

describe('http://', () => {
  it('takes a history both ways, the same heads at the end', async () => {
    const there = await copyOf(full)
    const url = await serve(there)
    const here = storeAt(place(), there.genesis)
    const run = (...argv: string[]) =>
      here.runWith({ env: { HSTORE_KEYS: there.keys, HSTORE_AGENT: agents.merger } }, ...argv)
    await ok(run('clone', url, '--genesis', there.genesis))
    expect(await heads({ ...here, run })).toBe(await heads(there))
    await putOne(there, 'there', { 'l.bin': bytesOf('there', 2_500_000), 's.txt': 'small' })
    await putOne({ ...here, run }, 'here', { 'l.bin': bytesOf('here', 2_500_000) })
    expect((await ok(run('sync'))).out).toBe('1 entries came from origin, 1 went there\n')
    expect(await heads({ ...here, run })).toBe(await heads(there))
    expect((await run('fsck')).exit).toBe(0)
    expect((await there.run('fsck')).exit).toBe(0)
  })

  it('gives nothing to whom the roster does not know', async () => {
    const there = await copyOf(full)
    const url = await serve(there)
    const here = storeAt(place(), there.genesis)
    const ran = await here.run('clone', url, '--genesis', there.genesis)
    expect(ran).toMatchObject({ exit: 4, out: '' })
    expect(ran.err).toContain('no agent is named')
    const keyless = await here.run('clone', url, '--genesis', there.genesis, '--as', agents.b)
    expect(keyless).toMatchObject({ exit: 4, out: '' })
    expect(keyless.err).toContain(`${agents.b} has no key here`)
    await ok(here.run('key', 'new', agents.a, '--no-passphrase'))
    const known = await here.run('clone', url, '--genesis', there.genesis, '--as', agents.a)
    expect(known).toMatchObject({ exit: 4, out: '' })
    expect(known.err).toContain('does not take the key')
  })

  it('says that no agent is named where a sync goes unsigned', async () => {
    const there = await copyOf(full)
    const url = await serve(there)
    const here = storeAt(place(), there.genesis)
    const run = (...argv: string[]) =>
      here.runWith({ env: { HSTORE_KEYS: there.keys, HSTORE_AGENT: '' } }, ...argv)
    await ok(run('clone', there.store, '--genesis', there.genesis))
    const ran = await run('sync', url)
    expect(ran).toMatchObject({ exit: 4, out: '' })
    expect(ran.err).toContain('no agent is named')
    expect(ran.err).toMatch(/--as.*HSTORE_AGENT/)
    expect(ran.err).not.toContain('does not take the key')
    await ok(run('sync', url, '--as', agents.merger))
  })

  it('is not served at an address that is taken or none, nor with TLS of noise', async () => {
    const there = await copyOf(full)
    const port = Number(new URL(await serve(there)).port)
    const options = { store: there.store, keys: there.keys }
    const listen = { host: '127.0.0.1', port, publicStreams: [], clock: Date.now }
    const noise = { cert: bytesOf('cert', 99), key: bytesOf('key', 99) }
    for (const other of [{}, { host: '203.0.113.1' }, { host: 'x.invalid' }, { tls: noise }])
      await expect(serveOverHttp(options, { ...listen, ...other })).rejects.toMatchObject({
        code: 'HSTORE_USAGE',
      })
    const ran = await there.run('serve', '--listen', `127.0.0.1:${port}`)
    expect(ran).toMatchObject({ exit: 2, out: '' })
  })

  it('names a server that is not there, and one that is none', async () => {
    const here = await copyOf(full)
    for (const url of ['http://127.0.0.1:1', 'http://127.0.0.1:1/x?y', 'http://u:p@127.0.0.1:1'])
      expect([2, 9]).toContain((await here.run('sync', url)).exit)
  })
})

describe('a client that serve does not trust', () => {
  let there: TestStore
  let url: string
  let merger: Signer
  let reader: Signer
  let secret: string

  beforeAll(async () => {
    there = await copyOf(full)
    await putOne(there, 'secret', { 's.txt': 'secret' })
    reader = await signerOf(there, agents.a)
    merger = await signerOf(there, agents.merger)
    await amendRoster(there, ({ agents: all }) => ({
      agents: all.map((agent) => (agent.id === agents.a ? { ...agent, read: [stream] } : agent)),
    }))
    secret = 'csag:csag:handoff/secret'
    url = await serve(there)
  })

  const refused: readonly (readonly [string, (signer: Signer) => Asked])[] = [
    ['without a signature', () => ({})],
    ['with an unknown key', () => ({ signer: signerOfSeed(bytesOf('nobody', 32)) })],
    ['with another method signed', (signer) => ({ signer, method: 'GET' })],
    ['with another path signed', (signer) => ({ signer, target: '/other' })],
    ['with another host signed', (signer) => ({ signer, authority: 'other:80' })],
    [
      'with a body other than signed',
      (signer) => ({ signer, headers: { 'content-digest': contentDigest(bytesOf('x', 3)) } }),
    ],
    ['with a clock behind', (signer) => ({ signer, created: Math.floor(Date.now() / 1000) - 400 })],
    ['with a clock ahead', (signer) => ({ signer, created: Math.floor(Date.now() / 1000) + 400 })],
    [
      'with a signature of zeros',
      (signer) => ({ signer, headers: { signature: `hstore=:${'A'.repeat(86)}==:` } }),
    ],
    ['with no signature but its input', (signer) => ({ signer, headers: { signature: '' } })],
    [
      'with a second signature',
      (signer) => ({ signer, headers: { signature: `x=:AA==:, hstore=:${'A'.repeat(86)}==:` } }),
    ],
  ]

  it.each(refused)('gets nothing %s', async (_name, how) => {
    const before = await digestOf(there.store)
    const response = await post(url, { is: 'hello', v: 1 }, how(merger))
    expect([400, 401]).toContain(response.status)
    expect(await response.text()).toBe('')
    expect(await digestOf(there.store)).toBe(before)
  })

  it('gets nothing for a request that was heard before', async () => {
    const nonce = randomBytes(16).toString('base64url')
    const created = Math.floor(Date.now() / 1000)
    expect(
      (await post(url, { is: 'hello', v: 1 }, { signer: merger, nonce, created })).status,
    ).toBe(200)
    expect(
      (await post(url, { is: 'hello', v: 1 }, { signer: merger, nonce, created })).status,
    ).toBe(401)
  })

  it('is told of the streams alone that its agent may read', async () => {
    const streams = (await told(await post(url, { is: 'hello', v: 1 }, { signer: reader })))[
      'streams'
    ]
    const names = (streams as unknown[][]).map(([name]) => name)
    expect(names).toEqual([stream, 'roster'])
    const all = (await told(await post(url, { is: 'hello', v: 1 }, { signer: merger })))['streams']
    expect((all as unknown[][]).map(([name]) => name)).toContain(secret)
  })

  it('gets of another stream what it gets of one that is not there', async () => {
    const { out } = await ok(there.run('log', secret, '--json'))
    const { entries } = JSON.parse(out) as { entries: { cid: string; body: string }[] }
    const { cid, body } = entries[0]!
    const link = (one: string) => ({ '/': one })
    const questions = (name: string): Message['control'][] => [
      { is: 'compare', nodes: [[name, 0, 0, '']] },
      { is: 'blocks', of: [[name, link(cid), [link(body)]]] },
      { is: 'piece', stream: name, entry: link(cid), artifact: link(body), at: 0 },
      { is: 'blocks', of: [[stream, link(cid), [link(body)]]] },
    ]
    const absent = questions('csag:nowhere')
    for (const [i, question] of questions(secret).entries()) {
      const answers = [question, absent[i]!].map((one) => post(url, one, { signer: reader }))
      const [a, b] = await Promise.all(
        answers.map(async (one) => Buffer.from(await (await one).arrayBuffer())),
      )
      expect(a!.equals(b!)).toBe(true)
      expect(a!.toString('latin1')).not.toContain(cid)
    }
  })

  it('gets blocks at the addresses of a gateway by the same rights', async () => {
    const { out } = await ok(there.run('log', secret, '--json'))
    const { entries } = JSON.parse(out) as { entries: { cid: string; body: string }[] }
    for (const cid of [entries[0]!.cid, entries[0]!.body, full.genesis])
      expect((await fetch(`${url}/ipfs/${cid}?format=raw`)).status).toBe(404)
    const open = await serve(there, [stream])
    const head = (await ok(there.run('heads'))).out
      .split('\n')
      .find((line) => line.startsWith(stream))!
      .split(' ')[1]!
    const response = await fetch(`${open}/ipfs/${head}?format=raw`)
    const bytes = new Uint8Array(await response.arrayBuffer())
    expect(cidTextOf(bytes, 'dag-json')).toBe(head)
    expect(response.headers.get('content-type')).toBe('application/vnd.ipld.raw')
    expect((await fetch(`${open}/ipfs/${head}?format=car`)).headers.get('content-type')).toBe(
      'application/vnd.ipld.car; version=1; order=dfs; dups=n',
    )
    for (const cid of [entries[0]!.cid, entries[0]!.body])
      expect((await fetch(`${open}/ipfs/${cid}`)).status).toBe(404)
    expect((await fetch(`${open}/ipfs/${head}`, { method: 'POST' })).status).toBe(405)
    for (const at of [
      '/',
      '/hstore/x',
      '/ipfs/',
      '/ipfs/../x',
      `/ipfs/${head.toUpperCase()}`,
      '/ipfs/%2e%2e',
    ])
      expect((await fetch(`${open}${at}`)).status, at).toBe(404)
  })

  it('gets a block in the form that it asks a gateway for', async () => {
    const open = await serve(there, [stream])
    const { out } = await ok(there.run('heads'))
    const cidIn = (name: string): string =>
      out
        .split('\n')
        .find((line) => line.startsWith(`${name} `))!
        .split(' ')[1]!
    const [head, hidden] = [cidIn(stream), cidIn(secret)]
    const ask = (cid: string, headers: Record<string, string>, query = ''): Promise<Response> =>
      fetch(`${open}/ipfs/${cid}${query}`, { headers })
    const raw = 'application/vnd.ipld.raw'
    const car = 'application/vnd.ipld.car'
    const typeOf = async (accept: string, query = ''): Promise<string | number> => {
      const { headers, status } = await ask(head, { accept }, query)
      return status === 200 ? headers.get('content-type')!.split(';')[0]! : status
    }
    expect(await typeOf(raw)).toBe(raw)
    expect(await typeOf(car)).toBe(car)
    expect(await typeOf(`${car}; version=1; order=dfs; dups=n`)).toBe(car)
    expect(await typeOf(`${car};q=0.5, ${raw};q=0.9`)).toBe(raw)
    expect(await typeOf(`text/html, ${car};q=0.1`)).toBe(car)
    expect(await typeOf('*/*')).toBe(raw)
    expect(await typeOf(raw, '?format=car')).toBe(car)
    expect(await typeOf('text/html')).toBe(406)
    expect(await typeOf(`${car}; version=2`)).toBe(406)
    expect(await typeOf(`${raw};q=0`)).toBe(406)
    expect(await typeOf('*/*', '?format=dag-cbor')).toBe(400)
    expect(await typeOf('*/*', '?format=car&car-version=2')).toBe(400)
    expect(await typeOf('*/*', '?format=car&dag-scope=all')).toBe(400)
    expect(await typeOf('*/*', '?format=car&dag-scope=block')).toBe(car)
    // what is refused whatever there is, is told in words
    const absentToo = cidTextOf(bytesOf('absent', 9), 'dag-json')
    for (const [query, status, words] of [
      ['/some/path?format=car', 501, /no paths below a CID/],
      ['/path?format=raw', 501, /no paths below a CID/],
      ['?format=car&dag-scope=all', 400, /dag-scope=block/],
      ['?format=tar', 400, /format=raw or format=car/],
    ] as const) {
      const told = await Promise.all(
        [head, hidden, absentToo].map(async (cid) => {
          const response = await ask(cid, {}, query)
          expect(response.status).toBe(status)
          return response.text()
        }),
      )
      expect(told[0]).toMatch(words)
      expect(new Set(told).size).toBe(1)
      const only = await fetch(`${open}/ipfs/${head}${query}`, { method: 'HEAD' })
      expect([only.status, await only.text()]).toEqual([status, ''])
    }
    expect((await ask(head, { accept: raw }, '/')).status).toBe(200)
    const got = await ask(head, { accept: car })
    const etag = got.headers.get('etag')!
    expect(Object.fromEntries(got.headers)).toMatchObject({
      'content-type': `${car}; version=1; order=dfs; dups=n`,
      'content-location': `/ipfs/${head}?format=car&dag-scope=block`,
      'content-disposition': `attachment; filename="${head}.car"`,
    })
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const same = await ask(head, { accept: car, 'if-none-match': known })
      expect(same.status).toBe(304)
      expect(same.headers.get('etag')).toBe(etag)
      expect(same.headers.get('content-length')).toBeNull()
    }
    expect((await ask(head, { accept: raw, 'if-none-match': etag })).status).toBe(200)
    // what may not be seen is answered as what is not there, whatever is asked for
    const absent = cidTextOf(bytesOf('absent', 9), 'dag-json')
    for (const headers of [
      { accept: raw },
      { accept: 'text/html' },
      { accept: raw, 'if-none-match': '*' },
      { accept: car, 'if-none-match': `"${hidden}.car", "${absent}.car"` },
    ]) {
      const answers = await Promise.all([hidden, absent].map((cid) => ask(cid, headers)))
      const told = answers.map(({ headers: all, status }) => {
        const { date: _date, ...rest } = Object.fromEntries(all)
        return { status, rest }
      })
      expect(told[0]).toEqual(told[1])
      expect([404, 406]).toContain(told[0]!.status)
    }
  })

  it('gets nothing any more once its key is frozen, or closed', async () => {
    const store = await copyOf(full)
    const at = await serve(store)
    const keys = [await signerOf(store, agents.a), await signerOf(store, agents.b)] as const
    const head = (await ok(store.run('heads'))).out.split(' ')[1]!
    const statuses = (): Promise<number[]> =>
      Promise.all(
        keys.map(async (signer) => (await post(at, { is: 'hello', v: 1 }, { signer })).status),
      )
    // both at once, before the server has looked at any roster
    expect(await statuses()).toEqual([200, 200])
    await ok(store.run('freeze', '--as', agents.a, '--yes'))
    await ok(store.run('roster', 'revoke', agents.b, keys[1].did, '--as-of-head', '--yes'))
    // the server looks at the roster again after two seconds
    await expect.poll(statuses, { timeout: 60_000, interval: 500 }).toEqual([401, 401])
    for (const signer of keys) {
      const target = `/ipfs/${head}?format=raw`
      const digest = contentDigest(new Uint8Array(0))
      const facts = {
        created: Math.floor(Date.now() / 1000),
        nonce: randomBytes(16).toString('base64url'),
      }
      const signed = { method: 'GET', authority: new URL(at).host, target, digest }
      const response = await fetch(`${at}${target}`, {
        headers: { ...signRequest(signed, facts, signer) },
      })
      expect(response.status).toBe(404)
    }
  })

  it('may not push without a right to write, and is told so', async () => {
    const response = await post(url, { is: 'waiting' }, { signer: merger })
    expect((await told(response))['is']).toBe('waiting')
    const open = await serve(there, [stream])
    expect(await told(await post(open, { is: 'push' }))).toMatchObject({
      is: 'no',
      code: 'HSTORE_REMOTE_DENIED',
    })
  })

  it('is answered within limits what is no request of ours', async () => {
    const before = await digestOf(there.store)
    for (const control of [
      { is: 'nothing' },
      { is: 'compare', nodes: [['x']] },
      { is: 'compare', nodes: Array.from({ length: 2000 }, () => ['x', 0, 0, '']) },
      { is: 'compare', nodes: [[stream, 9_000_000, 0, '']] },
      { is: 'compare', nodes: [[stream, 1, 9_007_199_254_740_991, '']] },
      { is: 'want', of: [[stream, 'x']] },
      { is: 'blocks', of: [[stream, 'x', []]] },
      { is: 'piece', stream, entry: 1, artifact: 2, at: -1 },
      { is: 'give', artifact: 'x' },
    ]) {
      const answer = await told(await post(url, control, { signer: merger }))
      expect(['no', 'compare']).toContain(answer['is'])
    }
    expect((await fetch(`${url}/hstore`, { method: 'POST', body: 'x' })).status).toBe(401)
    expect((await fetch(`${url}/hstore`)).status).toBe(405)
    expect(await digestOf(there.store)).toBe(before)
  })

  it('does not hold a connection that says nothing', async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('POST /hstore HTTP/1.1\r\nhost: x\r\ncontent-length: 16777216000\r\n\r\n')
    const answer = await new Promise<string>((resolve) =>
      socket.once('data', (data) => resolve(data.toString())),
    )
    expect(answer).toContain('401')
    socket.destroy()
  })

  it.each(['POST /', 'GET /ipfs/x', 'PUT /hstore', 'POST /hstore'])(
    'does not wait for content that it does not read: %s',
    async (line) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write(`${line} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nx`)
      socket.resume()
      await once(socket, 'close')
      socket.destroy()
    },
  )
})

describe('a signature of a request', () => {
  const signer = signerOfSeed(bytesOf('signer', 32))
  const request = {
    method: 'POST',
    authority: 'Host:80',
    target: '/hstore',
    digest: contentDigest(bytesOf('x', 9)),
  }
  const facts = { created: 1_700_000_000, nonce: 'AAAAAAAAAAAAAAAAAAAAAA' }

  it('stands for that request, and says who signed', () => {
    const headers = signRequest(request, facts, signer)
    expect(findSignature(request, { ...headers })).toEqual({ did: signer.did, ...facts })
    expect(findSignature({ ...request, authority: 'host:80' }, { ...headers })).toBeDefined()
  })

  it('stands for no other', () => {
    const headers = signRequest(request, facts, signer)
    for (const change of [
      { method: 'PUT' },
      { authority: 'host:81' },
      { target: '/hstore?' },
      { digest: contentDigest(bytesOf('y', 9)) },
    ])
      expect(findSignature({ ...request, ...change }, { ...headers })).toBeUndefined()
    const input = headers['signature-input']
    for (const other of [
      input.replace('1700000000', '1700000001'),
      input.replace('"@method" ', ''),
      `${input} `,
      input.replace('hstore=', 'sig='),
    ])
      expect(findSignature(request, { ...headers, 'signature-input': other })).toBeUndefined()
  })
})
