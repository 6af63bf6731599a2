import type { Socket } from 'node:net'
import type { Card } from './card.ts'
import type { Frame } from './frames.ts'
import { FrameSplitter, framesOf } from './frames.ts'
import type { Request } from './request.ts'
import { parseRequest } from './request.ts'

const maxWaiting = 128
const requestMs = 1000
const aliveMs = 2000

/** The processes that ask. They take turns: a verb has the store for itself, as it has in a process of its own. */
export class Askers {
  readonly #card: Card
  readonly #answer: (asker: Asker) => Promise<number | undefined>
  readonly #waiting = new Set<Socket>()
  #current: Socket | undefined

  constructor(card: Card, answer: (asker: Asker) => Promise<number | undefined>) {
    this.#card = card
    this.#answer = answer
  }

  /** Takes in a process that has come; one too many does its work alone. */
  add(socket: Socket): void {
    socket.on('error', () => undefined)
    socket.once('close', () => this.#waiting.delete(socket))
    if (this.#waiting.size >= maxWaiting) return void socket.destroy()
    this.#waiting.add(socket)
    this.#next()
  }

  /** Lets all go. */
  close(): void {
    for (const socket of this.#waiting) socket.destroy()
    this.#current?.destroy()
  }

  #next(): void {
    const [socket] = this.#waiting
    if (this.#current !== undefined || socket === undefined) return
    this.#waiting.delete(socket)
    this.#current = socket
    const done = (): void => {
      this.#current = undefined
      this.#next()
    }
    this.#serve(socket).then(done, () => {
      socket.destroy()
      done()
    })
  }

  async #serve(socket: Socket): Promise<void> {
    const asker = new Asker(socket)
    asker.send('H')
    const frame = await asker.firstFrame(requestMs)
    const request = frame?.kind === 'R' ? parseRequest(frame.bytes, this.#card.token) : undefined
    if (request === undefined) return void socket.destroy()
    if (request.caller !== this.#card.caller) return asker.end('A')
    asker.request = request
    const alive = setInterval(() => asker.send('K'), aliveMs)
    try {
      const code = await this.#answer(asker)
      if (code === undefined) asker.end('A')
      else asker.end('X', Uint8Array.of(code))
    } finally {
      clearInterval(alive)
    }
  }
}

/** A process that asks, while it is its turn. */
export class Asker {
  request: Request = { argv: [], cwd: '/', env: {} }
  readonly #socket: Socket
  readonly #splitter = new FrameSplitter()
  readonly #frames: Frame[] = []
  #wake: (() => void) | undefined

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (piece) => this.#take(piece))
    socket.once('close', () => this.#wake?.())
  }

  /** Sends a frame, or as many as the bytes need. */
  send(kind: string, bytes?: Uint8Array): boolean {
    return !this.#socket.destroyed && this.#socket.write(framesOf(kind, bytes))
  }

  /** Sends the last frame. */
  end(kind: string, bytes?: Uint8Array): void {
    this.#socket.end(framesOf(kind, bytes))
    // what comes from now on is for nobody
    this.#socket.resume()
  }

  /** Writes to the process's stdout; waits for one that reads slowly. What is for a process that is gone goes nowhere. */
  async out(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      if (this.send('O', bytes.subarray(at, at + pieceBytes)) || this.#socket.destroyed) continue
      await new Promise<void>((resolve) => {
        const go = (): void => {
          this.#socket.off('drain', go).off('close', go)
          resolve()
        }
        this.#socket.on('drain', go).on('close', go)
      })
    }
  }

  /** Yields the process's stdin. */
  async *stdin(): AsyncGenerator<Uint8Array> {
    this.send('W')
    for (;;) {
      const frame = await this.#frame()
      if (frame?.kind === 'Z') return
      if (frame?.kind !== 'I') throw new Error('the process that asked is gone')
      yield frame.bytes
    }
  }

  /** Returns the first frame, or undefined when it does not come in time. */
  async firstFrame(timeoutMs: number): Promise<Frame | undefined> {
    const late = setTimeout(() => this.#socket.destroy(), timeoutMs)
    try {
      return await this.#frame()
    } finally {
      clearTimeout(late)
    }
  }

  async #frame(): Promise<Frame | undefined> {
    for (;;) {
      const frame = this.#frames.shift()
      if (frame !== undefined) return frame
      if (this.#socket.destroyed) return undefined
      this.#socket.resume()
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #take(piece: Uint8Array): void {
    const frames = this.#splitter.take(piece)
    if (frames === undefined) this.#socket.destroy()
    else {
      this.#frames.push(...frames)
      // no more is taken in than is asked for
      if (frames.length > 0) this.#socket.pause()
    }
    this.#wake?.()
  }
}

const pieceBytes = 64 * 1024
