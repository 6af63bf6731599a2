import { serveOverHttp, serveOverPipes } from '../../sync-verbs.ts'
import { readInput } from '../input.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { jsonLine } from '../render.ts'
import { openOptions } from '../settings.ts'

type Options = Parameters<Verb>[2]

/** `hstore serve`: answers clients. */
export const serve: Verb = async (io, _args, options) => {
  const { listen, stdio } = options
  if ((stdio === true) === (typeof listen === 'string'))
    throw new UsageError(
      'how? --stdio serves one client over pipes, --listen HOST:PORT many over HTTP',
    )
  if (stdio === true) await overPipes(io, options)
  else await overHttp(io, String(listen), options)
  return 0
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
    clock: Date.now,
  })
  const { url } = server
  await io.out(options.json === true ? jsonLine('serve', { url }) : `${url}\n`)
  // a signal ends it
  await new Promise(() => undefined)
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
