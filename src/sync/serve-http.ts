import type { IncomingMessage as Request, ServerResponse } from 'node:http'
import type { SignedRequest } from '../../keys/http-signature.ts'
import { contentDigest } from '../../keys/http-signature.ts'
import type { Message } from '../../store/wire.ts'
import { decodeMessage, wireLimits } from '../../store/wire.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { Served } from './request.ts'
import { answer, refusal } from './answer.ts'
import { answerGateway } from './gateway.ts'
import { HttpAuth } from './http-auth.ts'
import type { Content } from './http-content.ts'
import { contentOf, hasContent, refusedLength, untilSigned, wholeContent } from './http-content.ts'
import type { HttpServeOptions, HttpServer } from './http-listen.ts'
import { listenHttp, silenceMs } from './http-listen.ts'
import type { Packed } from './http-pack.ts'
import { packMessage } from './http-pack.ts'
import { end, endBusy, goneOf, sendContent } from './http-send.ts'
import { Patience } from './patience.ts'
import type { Held } from './room.ts'
import { Room } from './room.ts'
import type { Rights } from './rights.ts'

/** The one address of the protocol. */
export const syncPath = '/hstore'

/** The type of its messages. */
export const syncType = 'application/vnd.hstore.sync'

/** Bytes that come from clients and wait to go to them, over all that are signed and all that are not. */
const signedBytes = 64 * 1024 * 1024
const unsignedBytes = 24 * 1024 * 1024
/** What a request takes that is read as it comes, however long it is: a block, and the pieces that it comes in. */
const streamedBytes = 4 * 1024 * 1024
/** So long a client waits for room. */
const busyMs = 10_000

/** What all who ask have in common. */
interface Door {
  readonly auth: HttpAuth
  readonly rooms: Rooms
}

interface Rooms {
  readonly signed: Room
  readonly unsigned: Room
}

/**
 * Serves a store over HTTP until it is closed.
 *
 * @throws {HandoffError} `HSTORE_USAGE` when it can't listen there, or the certificate or key is none.
 */
export async function serveHttp(served: Served, options: HttpServeOptions): Promise<HttpServer> {
  const door: Door = {
    auth: new HttpAuth(served, options.publicStreams, options.clock),
    rooms: { signed: new Room(signedBytes), unsigned: new Room(unsignedBytes) },
  }
  const handle = (request: Request, response: ServerResponse): void => {
    respond(served, door, request, response).catch(() => response.destroy())
  }
  return listenHttp(options, handle)
}

async function respond(
  served: Served,
  door: Door,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const { method = '', url = '/' } = request
  const [path] = url.split('?')
  // content that nobody reads is not waited for
  if (path !== syncPath && hasContent(request)) response.setHeader('connection', 'close')
  if (path === syncPath) {
    if (method === 'POST') await respondSync(served, door, request, response)
    else end(response, 405, { allow: 'POST', connection: 'close' })
  } else if (path?.startsWith('/ipfs/') === true) {
    if (method === 'GET' || method === 'HEAD') await respondBlock(served, door, request, response)
    else end(response, 405, { allow: 'GET, HEAD' })
  } else end(response, 404)
}

async function respondSync(
  served: Served,
  { auth, rooms }: Door,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const digest = textOf(request.headers['content-digest'])
  // who asks is known by the headers alone: nobody else's content is taken in
  const rights = await auth.rightsOf(signedOf(request, digest), request.headers)
  if (rights === undefined) return end(response, 401, { connection: 'close' })
  if (rights === 'busy') return endBusy(response)
  const most = rights.mayWrite ? wireLimits.packedBytes : maxReaderBytes
  const refused = refusedLength(request, most)
  if (refused !== undefined) return end(response, refused, { connection: 'close' })
  const asking = { served, rights, room: roomOf(rooms, request), digest }
  if (rights.mayWrite) await respondWriter(asking, request, response)
  else await respondReader(asking, request, response)
}

/** Questions are small: one is read when all of it is there, and few are answered at once. */
async function respondReader(
  asking: Asking,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const { room, digest } = asking
  const letGo = (): unknown => response.destroy()
  using held = await room.take(Number(request.headers['content-length']), letGo, busyMs)
  if (held === undefined) return endBusy(response)
  const content = await wholeContent(request, digest, held, new Patience(silenceMs))
  if (!(await content.isSigned())) return end(response, 400, { connection: 'close' })
  const gone = goneOf(response)
  await room.work(async () => {
    if (gone.aborted) return
    await sendAnswer(response, room, await answerTo(asking, content, gone))
  })
}

/** What is sent along goes to the disk as it comes; few are answered at once, each when all of it has come. */
async function respondWriter(
  asking: Asking,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const { room, digest } = asking
  using held = await room.take(streamedBytes, () => response.destroy(), busyMs)
  if (held === undefined) return endBusy(response)
  const content = contentOf(request, digest, held, new Patience(silenceMs))
  using turn = room.turn()
  const begin = async (): Promise<void> => {
    held[Symbol.dispose]()
    await turn.begin()
  }
  const message = await answerTo(asking, content, goneOf(response), begin)
  if (!(await content.isSigned())) return end(response, 400, { connection: 'close' })
  await sendAnswer(response, room, message)
}

/** Who asks, and where. */
interface Asking {
  readonly served: Served
  readonly rights: Rights
  readonly room: Room
  readonly digest: string
}

/** Who is told by a key never waits behind those who are not. */
function roomOf({ signed, unsigned }: Rooms, request: Request): Room {
  return request.headers['signature-input'] === undefined ? unsigned : signed
}

async function respondBlock(
  served: Served,
  { auth, rooms }: Door,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const signed = signedOf(request, contentDigest(noContent))
  const rights = await auth.rightsOf(signed, request.headers)
  // who may see nothing is not told what there is
  if (rights === undefined) return end(response, 404)
  if (rights === 'busy') return endBusy(response)
  const { accept, 'if-none-match': ifNoneMatch } = request.headers
  const asked = { target: signed.target, accept, ifNoneMatch }
  const room = roomOf(rooms, request)
  await room.work(async () => {
    if (response.destroyed) return
    const found = await answerGateway(served, asked, rights)
    await sendFound(response, room, found, signed.method)
  })
}

function signedOf({ headers, method = '', url = '/' }: Request, digest: string): SignedRequest {
  return { method, authority: headers.host ?? '', target: url, digest }
}

const noContent = new Uint8Array(0)
/** Questions are small. */
const maxReaderBytes = 2 * 1024 * 1024

function textOf(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** @param begin - Called and awaited before anything is done but to read the content. */
async function answerTo(
  { served, rights }: Asking,
  content: Content,
  hungUp: AbortSignal,
  begin = async (): Promise<void> => undefined,
): Promise<Message> {
  try {
    const { control, blocks } = await decodeMessage(content.chunks)
    const signed = untilSigned(blocks, content, begin)
    return await answer(served, { control, blocks: signed }, rights, hungUp)
  } catch (error) {
    if (error instanceof HstoreError) return refusal(error)
    throw error
  }
}

/** Returns once there is room for an answer: that it goes to the client is not waited for. */
async function sendAnswer(response: ServerResponse, room: Room, message: Message): Promise<void> {
  const packed = await packMessage(message)
  const held = await room.take(packed.length, () => response.destroy(), busyMs)
  if (held === undefined) endBusy(response)
  else void sendPacked(response, packed, held)
}

function sendPacked(response: ServerResponse, packed: Packed, held: Held): Promise<void> {
  response.writeHead(200, {
    'content-type': syncType,
    'content-length': packed.length,
    'content-digest': packed.digest,
    'cache-control': 'no-store',
  })
  return sendContent(response, packed.chunks, held)
}

async function sendFound(
  response: ServerResponse,
  room: Room,
  { status, headers, content }: Awaited<ReturnType<typeof answerGateway>>,
  method: string,
): Promise<void> {
  if (status === 200) {
    const held = await room.take(content.length, () => response.destroy(), busyMs)
    if (held === undefined) return endBusy(response)
    const facts = { 'content-length': content.length, 'content-digest': contentDigest(content) }
    response.writeHead(status, { ...headers, ...facts })
    void sendContent(response, method === 'HEAD' ? [] : [content], held)
  } else if (status === 304) {
    // a length here would be that of the block
    response.writeHead(status, headers)
    response.end()
  } else {
    response.writeHead(status, { ...headers, 'content-length': content.length })
    response.end(method === 'HEAD' ? noContent : content)
  }
}
