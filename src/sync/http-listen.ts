import { once } from 'node:events'
import type { RequestListener, Server, ServerOptions } from 'node:http'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { wireLimits } from '../../store/wire.ts'
import { HandoffError } from '../errors.ts'
import { whyOf } from '../kernel/errno.ts'
import { quoted } from '../kernel/shown.ts'
import { limitPeers } from './limit-peers.ts'
import { msPerByte } from './patience.ts'

/** How a store is served over HTTP. */
export interface HttpServeOptions {
  readonly host: string
  /** 0 for a free one. */
  readonly port: number
  /** PEM of certificate chain and key; plain HTTP without. */
  readonly tls?: { readonly cert: Uint8Array; readonly key: Uint8Array } | undefined
  /** Patterns of streams that anybody may read. Of a whole name the family may be left out where the rest is unique. */
  readonly publicStreams: readonly string[]
  /** Called for each of them that fits no stream yet. */
  readonly onAbsent?: ((pattern: string) => void) | undefined
  /** The time, in ms since 1970. */
  readonly clock: () => number
}

/** A server that listens. */
export interface HttpServer {
  readonly url: string
  /** Ends it, with all that is under way. */
  close(): Promise<void>
}

const headersTimeoutMs = 10_000
const maxHeaderBytes = 16 * 1024
const maxConnections = 256
const keptMs = 5000
/** So long a client that sends content may say nothing, in ms. */
export const silenceMs = 60_000
/** No request that keeps the least pace takes longer. */
const requestTimeoutMs = silenceMs + wireLimits.packedBytes * msPerByte

/**
 * Listens until it is closed. Who has connected has ten seconds for headers.
 *
 * @throws {HandoffError} `HSTORE_USAGE` when it can't listen there, or the certificate or key is none.
 */
export async function listenHttp(
  options: HttpServeOptions,
  handle: RequestListener,
): Promise<HttpServer> {
  const limits = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: headersTimeoutMs,
    maxHeaderSize: maxHeaderBytes,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: keptMs,
  }
  const { tls } = options
  const server = tls === undefined ? createServer(limits, handle) : tlsServer(tls, limits, handle)
  server.maxConnections = maxConnections
  server.on('connection', limitPeers())
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
    return createTlsServer({ ...limits, handshakeTimeout: headersTimeoutMs, cert, key }, handle)
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
