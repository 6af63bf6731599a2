import { once } from 'node:events'
import type {
  IncomingMessage as Request,
  RequestListener,
  Server,
  ServerOptions,
  ServerResponse,
} from 'node:http'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import type { SignedRequest } from '../../keys/http-signature.ts'
import { ContentDigest, contentDigest } from '../../keys/http-signature.ts'
import type { CarTextBlock } from '../../store/car-read.ts'
import type { IncomingMessage, Message } from '../../store/wire.ts'
import { decodeMessage, encodeMessage, wireLimits } from '../../store/wire.ts'
import { HandoffError } from '../errors.ts'
import { whyOf } from '../kernel/errno.ts'
import { HstoreError } from '../kernel/errors.ts'
import { quoted } from '../kernel/shown.ts'
import type { Served } from './request.ts'
import { answer, refusal } from './answer.ts'
import { answerGateway } from './gateway.ts'
import { HttpAuth } from './http-auth.ts'
import type { Rights } from './rights.ts'

/** How a store is served over HTTP. */
export interface HttpServeOptions {
  readonly host: string
  /** 0 for a free one. */
  readonly port: number
  /** PEM of certificate chain and key; plain HTTP without. */
  readonly tls?: { readonly cert: Uint8Array; readonly key: Uint8Array } | undefined
  /** Patterns of streams that anybody may read. */
  readonly publicStreams: readonly string[]
  /** The time, in ms since 1970. */
  readonly clock: () => number
}

/** A server that listens. */
export interface HttpServer {
  readonly url: string
  /** Ends it, with all that is under way. */
  close(): Promise<void>
}

/** The one address of the protocol. */
export const syncPath = '/hstore'

/** The type of its messages. */
export const syncType = 'application/vnd.hstore.sync'

const requestTimeoutMs = 60_000
const headersTimeoutMs = 10_000
const maxHeaderBytes = 16 * 1024
const maxConnections = 256

/**
 * Serves a store over HTTP until it is closed.
 *
 * @throws {HandoffError} `HSTORE_USAGE` when it can't listen there, or the certificate or key is none.
 */
export async function serveHttp(served: Served, options: HttpServeOptions): Promise<HttpServer> {
  const auth = new HttpAuth(served, options.publicStreams, options.clock)
  const handle = (request: Request, response: ServerResponse): void => {
    respond(served, auth, request, response).catch(() => response.destroy())
  }
  const limits = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: headersTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: 5000,
  }
  const { tls } = options
  const server = tls === undefined ? createServer(limits, handle) : tlsServer(tls, limits, handle)
  server.maxConnections = maxConnections
  await listen(server, options)
  const at = server.address() as AddressInfo
  const shown = at.family === 'IPv6' ? `[${at.address}]` : at.address
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${shown}:${at.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function tlsServer(
  tls: NonNullable<HttpServeOptions['tls']>,
  limits: ServerOptions,
  handle: RequestListener,
): Server {
  try {
    const [cert, key] = [Buffer.from(tls.cert), Buffer.from(tls.key)]
    return createTlsServer({ ...limits, cert, key }, handle)
  } catch (cause) {
    const message = `TLS wants a certificate and its key in PEM (${whyOf(cause)})`
    throw new HandoffError('HSTORE_USAGE', message, { cause })
  }
}

async function listen(server: Server, { host, port }: HttpServeOptions): Promise<void> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
  } catch (cause) {
    const message = `can't listen at ${quoted(host)}, port ${port}: ${whyOf(cause)}`
    throw new HandoffError('HSTORE_USAGE', message, { cause })
  }
}

async function respond(
  served: Served,
  auth: HttpAuth,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const { method = '', url = '/' } = request
  const [path] = url.split('?')
  if (path === syncPath) {
    if (method === 'POST') await respondSync(served, auth, request, response)
    else end(response, 405, { allow: 'POST' })
  } else if (path?.startsWith('/ipfs/') === true) {
    if (method === 'GET' || method === 'HEAD') await respondBlock(served, auth, request, response)
    else end(response, 405, { allow: 'GET, HEAD' })
  } else end(response, 404)
}

async function respondSync(
  served: Served,
  auth: HttpAuth,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const digest = textOf(request.headers['content-digest'])
  // who asks is known by the headers alone: nobody else's content is taken in
  const rights = await auth.rightsOf(signedOf(request, digest), request.headers)
  if (rights === undefined) return end(response, 401, { connection: 'close' })
  const most = rights.mayWrite ? wireLimits.packedBytes : maxReaderBytes
  const refused = refusedLength(request, most)
  if (refused !== undefined) return end(response, refused, { connection: 'close' })
  const content = contentOf(request, digest, most)
  const message = await answerTo(served, content, rights, goneOf(response))
  if (!(await content.isSigned)) return end(response, 400, { connection: 'close' })
  await sendAnswer(response, message)
}

async function respondBlock(
  served: Served,
  auth: HttpAuth,
  request: Request,
  response: ServerResponse,
): Promise<void> {
  const signed = signedOf(request, contentDigest(noContent))
  const rights = await auth.rightsOf(signed, request.headers)
  // who may see nothing is not told what there is
  if (rights === undefined) return end(response, 404)
  const { accept, 'if-none-match': ifNoneMatch } = request.headers
  const asked = { target: signed.target, accept, ifNoneMatch }
  const { status, headers, content } = await answerGateway(served, asked, rights)
  if (status === 200) {
    const facts = { 'content-length': content.length, 'content-digest': contentDigest(content) }
    response.writeHead(status, { ...headers, ...facts })
    response.end(request.method === 'HEAD' ? undefined : content)
  } else if (status === 304) {
    // a length here would be that of the block
    response.writeHead(status, headers)
    response.end()
  } else end(response, status)
}

function signedOf({ headers, method = '', url = '/' }: Request, digest: string): SignedRequest {
  return { method, authority: headers.host ?? '', target: url, digest }
}

const noContent = new Uint8Array(0)
/** Questions are small. */
const maxReaderBytes = 1024 * 1024

function textOf(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** Returns the status that refuses a request for the length of its content. */
function refusedLength({ headers }: Request, most: number): number | undefined {
  const length = Number(headers['content-length'] ?? 'none')
  if (headers['transfer-encoding'] !== undefined || Number.isNaN(length)) return 411
  return Number.isSafeInteger(length) && length <= most ? undefined : 413
}

/** A request's content as it comes: what came before a cut is not lost. */
interface Content {
  readonly chunks: AsyncIterable<Uint8Array>
  /** Whether it came whole, and is what was signed. */
  readonly isSigned: Promise<boolean>
}

function contentOf(request: Request, digest: string, most: number): Content {
  // all of it has room: it is read to its end, whatever is made of it
  const chunks = new PassThrough({ highWaterMark: most + 1 })
  const read = async (): Promise<boolean> => {
    const came = new ContentDigest()
    try {
      for await (const chunk of request) {
        came.update(chunk as Uint8Array)
        chunks.write(chunk)
      }
      return came.value() === digest
    } catch {
      return false // cut off
    } finally {
      chunks.end()
    }
  }
  return { chunks, isSigned: read() }
}

async function answerTo(
  served: Served,
  { chunks, isSigned }: Content,
  rights: Rights,
  hungUp: AbortSignal,
): Promise<Message> {
  try {
    const { control, blocks } = await decodeMessage(chunks)
    return await answer(served, { control, blocks: untilSigned(blocks, isSigned) }, rights, hungUp)
  } catch (error) {
    if (error instanceof HstoreError) return refusal(error)
    throw error
  }
}

/** Returns what is aborted once a client has gone: nobody works for it any more. */
function goneOf(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort(new Error('the client has gone')))
  return gone.signal
}

/** Nothing is done with blocks before all is known to be what was signed. */
async function* untilSigned(
  blocks: IncomingMessage['blocks'],
  isSigned: Promise<boolean>,
): AsyncGenerator<CarTextBlock> {
  yield* blocks
  if (!(await isSigned))
    throw new HandoffError('HSTORE_REMOTE_INVALID', 'it is not what was signed')
}

async function sendAnswer(response: ServerResponse, message: Message): Promise<void> {
  const chunks: Uint8Array[] = []
  for await (const chunk of encodeMessage(message)) chunks.push(chunk)
  const content = Buffer.concat(chunks)
  response.writeHead(200, {
    'content-type': syncType,
    'content-length': content.length,
    'content-digest': contentDigest(content),
    'cache-control': 'no-store',
  })
  response.end(content)
}

function end(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { ...headers, 'content-length': 0 })
  response.end()
}
