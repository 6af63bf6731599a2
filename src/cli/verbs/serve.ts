import { HstoreError } from '../../kernel/errors.ts'
import type { LocalServer } from '../../resident/listen.ts'
import { serveOverHttp, serveOverPipes, serveOverSocket } from '../../sync-verbs.ts'
import { readInput } from '../input.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { residentIo } from '../resident-io.ts'
import { openOptions } from '../settings.ts'
import { closeOnSignals } from '../signals.ts'
import { verbs } from '../verb-table.ts'

type Options = Parameters<Verb>[2]

/** `hstore serve`: answers clients. */
export const serve: Verb = async (io, _args, options) => {
  const { listen, stdio } = options
  if (stdio === true && typeof listen === 'string')
    throw new UsageError(
      '--stdio serves one client over pipes, --listen HOST:PORT many over HTTP: take one of them',
    )
  if (stdio === true) await overPipes(io, options)
  else if (typeof listen === 'string') await overHttp(io, listen, options)
  else await overSocket(io, options)
  return 0
}

/** Does verbs for other processes of this user, over a local socket. */
async function overSocket(io: Io, options: Options): Promise<void> {
  refuseHttpOptions(options)
  const { socket } = await listenLocally(io, options)
  await io.out(options.json === true ? jsonLine('serve', { socket }) : `${plain(socket)}\n`)
  await ended()
}

async function listenLocally(io: Io, options: Options): Promise<LocalServer> {
  const { build } = io
  if (build === undefined) throw new UsageError('serve without --listen runs from bin/hstore only')
  const open = openOptions(io, options)
  // loaded now: there is nobody yet who waits
  const { main } = await import('../program.ts')
  for (const { load } of verbs) await load?.()
  const server = await serveOverSocket(open, build, async (asker, openDatabase) => {
    const own = residentIo(asker, open.keys, openDatabase)
    try {
      return await main(asker.request.argv, own)
    } catch (error) {
      if (own.leaves?.(error) === true) return undefined
      throw error
    }
  })
  closeOnSignals(() => server.close())
  return server
}

async function overPipes(io: Io, options: Options): Promise<void> {
  const input = io.stdinChunks?.()
  if (input === undefined) throw new UsageError('standard input is no pipe: --stdio needs one')
  await serveOverPipes(openOptions(io, options), { input, write: (chunk) => io.out(chunk) })
}

async function overHttp(io: Io, listen: string, options: Options): Promise<void> {
  const server = await serveOverHttp(openOptions(io, options), {
    ...addressOf(listen),
    tls: await tlsOf(io, options),
    publicStreams: (options['public'] as readonly string[] | undefined) ?? [],
    onAbsent: (pattern) =>
      warn(io, `--public ${JSON.stringify(pattern)} fits no stream yet: hstore heads lists them`),
    clock: Date.now,
  })
  closeOnSignals(() => server.close())
  const { url } = server
  const socket = await listenLocally(io, options).then(
    (local) => local.socket,
    (error: unknown) => {
      if (!(error instanceof HstoreError || error instanceof UsageError)) throw error
      warn(io, error.message)
      return null
    },
  )
  await io.out(options.json === true ? jsonLine('serve', { url, socket }) : `${url}\n`)
  await ended()
}

function warn(io: Io, message: string): void {
  io.err(`hstore: warning: ${plain(message)}\n`)
}

/** A signal ends it. */
function ended(): Promise<never> {
  return new Promise(() => undefined)
}

function refuseHttpOptions(options: Options): void {
  for (const name of ['tlsCert', 'tlsKey', 'public'])
    if (options[name] !== undefined)
      throw new UsageError('--tls-cert, --tls-key and --public go with --listen')
}

function addressOf(listen: string): { host: string; port: number } {
  const [, bracketed, plain, port] =
    /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(listen) ?? []
  const host = bracketed ?? plain
  if (host !== undefined && Number(port) < 65_536) return { host, port: Number(port) }
  throw new UsageError(`--listen takes HOST:PORT, as 127.0.0.1:8017, not ${JSON.stringify(listen)}`)
}

async function tlsOf(
  io: Io,
  options: Options,
): Promise<{ cert: Uint8Array; key: Uint8Array } | undefined> {
  const { tlsCert, tlsKey } = options
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (typeof tlsCert !== 'string' || typeof tlsKey !== 'string')
    throw new UsageError('--tls-cert and --tls-key go together')
  return { cert: await readInput(io, tlsCert), key: await readInput(io, tlsKey) }
}
