import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** A port that leads to another, and counts what goes there. */
export interface TcpWay extends AsyncDisposable {
  readonly port: number
  /** Bytes that went there. */
  sentBytes(): number
}

/** How a way treats what comes. */
export interface WayOptions {
  /** So many bytes go there, then both sides are cut off. */
  readonly mostBytes?: number | undefined
  /** What is sent behind them at once is taken before the cut, and goes there afterwards, slowly, as from a proxy. */
  readonly isHaunted?: boolean | undefined
}

const ghostStepBytes = 8000
const ghostStepMs = 20
/** Who waits for an answer sends no more. */
const pauseMs = 200

/** Opens a way that may be cut. */
export async function openWay(
  to: number,
  { mostBytes = Number.POSITIVE_INFINITY, isHaunted = false }: WayOptions = {},
): Promise<TcpWay> {
  let sent = 0
  const open = new Set<Socket>()
  const timers = new Set<NodeJS.Timeout>()
  const haunt = (socket: Socket, there: Socket, rest: Buffer): void => {
    socket.destroy()
    let at = 0
    const timer = setInterval(() => {
      there.write(rest.subarray(at, (at += ghostStepBytes)))
      if (at < rest.length) return
      clearInterval(timer)
      there.end()
    }, ghostStepMs)
    timers.add(timer)
  }
  const server = createServer((socket) => {
    const there = connect(to, '127.0.0.1')
    let rest = Buffer.alloc(0)
    let cut: NodeJS.Timeout | undefined
    for (const one of [socket, there]) {
      open.add(one)
      one.on('error', () => undefined)
      one.once('close', () => open.delete(one))
    }
    there.pipe(socket)
    socket.on('data', (chunk: Buffer) => {
      const part = chunk.subarray(0, mostBytes - sent)
      sent += part.length
      there.write(part)
      rest = Buffer.concat([rest, chunk.subarray(part.length)])
      if (sent < mostBytes) return
      clearTimeout(cut)
      if (isHaunted) {
        cut = setTimeout(() => haunt(socket, there, rest), pauseMs)
        timers.add(cut)
      } else {
        there.end()
        socket.destroy()
      }
    })
    socket.on('end', () => there.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    sentBytes: () => sent,
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer)
      for (const one of open) one.destroy()
      await new Promise<unknown>((resolve) => server.close(resolve))
    },
  }
}
