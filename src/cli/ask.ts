import { fstatSync, writeSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { addressOf } from '../resident/address.ts'
import { callerOf } from '../resident/caller.ts'
import type { Card } from '../resident/card.ts'
import { isOwnSocket } from '../resident/card.ts'
import { passedNames } from '../resident/environment.ts'
import type { Frame } from '../resident/frames.ts'
import { FrameSplitter, framesOf, maxFrameBytes } from '../resident/frames.ts'
import { Output } from './output.ts'

/** What is to be done, and how it is done without help. */
export interface Work {
  readonly argv: readonly string[]
  readonly build: string
  readonly alone: () => void
}

/** Whom to ask. */
export interface Whom {
  readonly card: Card
  /** The folder that the card stands in. */
  readonly folder: string
  readonly cwd: string
}

/** Who is busy, or was stopped, is not waited for. */
const turnMs = 500

/** Who works says so every two seconds. */
const silenceMs = 60_000

/**
 * Asks another process to do a verb, and does it alone when that has not begun; or when it has begun, and nothing of the
 * answer was given out yet: each verb that is asked for may be done twice.
 */
export function ask(whom: Whom, work: Work): void {
  const request = requestOf(whom, work)
  const isOwn = isOwnSocket(join(whom.folder, whom.card.socket))
  if (request === undefined || !isOwn || isTerminal(1)) return work.alone()
  // as late as can be: a verb that is done alone does not need it
  const { connect } = process.getBuiltinModule('node:net')
  const address = addressOf(whom.folder, whom.card.socket)
  const socket = connect(address.path)
  address.close()
  new Asking(socket, request, work.alone).begin()
}

/** Asked of what can be one only: the answer has to be loaded. */
function isTerminal(fd: number): boolean {
  return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd)
}

/** Returns the request, or undefined where this process is not as the other. */
function requestOf({ card, cwd }: Whom, { argv, build }: Work): Buffer | undefined {
  const caller = callerOf(build)
  if (caller !== card.caller) return undefined
  const env = Object.fromEntries(passedNames.map((name) => [name, process.env[name]]))
  const request = JSON.stringify({ token: card.token, caller, argv, cwd, env })
  const bytes = Buffer.from(request)
  return bytes.length < maxFrameBytes ? framesOf('R', bytes) : undefined
}

class Asking {
  readonly #socket: Socket
  readonly #request: Buffer
  readonly #alone: () => void
  readonly #splitter = new FrameSplitter()
  readonly #output = new Output()
  #hasBegun = false
  #isStdinTaken = false
  #isOver = false
  // a timer of the socket's own takes longer to make
  #late: NodeJS.Timeout = setTimeout(() => this.#lose(), turnMs)

  constructor(socket: Socket, request: Buffer, alone: () => void) {
    this.#socket = socket
    this.#request = request
    this.#alone = alone
  }

  begin(): void {
    this.#socket
      .on('error', () => this.#lose())
      .on('close', () => this.#lose())
      .on('data', (piece) => this.#take(piece))
  }

  #take(piece: Uint8Array): void {
    this.#late.refresh()
    const frames = this.#splitter.take(piece)
    if (frames === undefined) return this.#lose()
    for (const frame of frames) if (!this.#isOver) this.#heed(frame)
  }

  #heed({ kind, bytes }: Frame): void {
    if (!this.#hasBegun) return kind === 'H' ? this.#send() : this.#lose()
    if (kind === 'O' || kind === 'E') this.#give(kind === 'O' ? 1 : 2, bytes)
    else if (kind === 'W') this.#giveStdin()
    else if (kind === 'X') this.#end(bytes[0] ?? 1)
    else if (kind !== 'K') this.#lose()
  }

  #give(fd: 1 | 2, bytes: Uint8Array): void {
    const isTaken = this.#output.add(fd, bytes)
    // what can't be done again need not be held back
    if (!isTaken || (this.#isStdinTaken && !this.#output.flush())) this.#lose()
  }

  #send(): void {
    this.#hasBegun = true
    clearTimeout(this.#late)
    this.#late = setTimeout(() => this.#lose(), silenceMs)
    this.#socket.write(this.#request)
  }

  #giveStdin(): void {
    if (this.#isStdinTaken) return this.#lose()
    this.#isStdinTaken = true
    const { stdin } = process
    stdin.on('error', () => this.#lose())
    stdin.on('data', (chunk: Buffer) => {
      if (this.#socket.write(framesOf('I', chunk))) return
      stdin.pause()
      this.#socket.once('drain', () => stdin.resume())
    })
    stdin.on('end', () => this.#socket.write(framesOf('Z')))
  }

  #end(code: number): void {
    // nothing is taken down that the end of the process does not take down by itself
    if (this.#output.flush()) process.exit(code)
    this.#lose()
  }

  /** The other is gone, or is none of ours. */
  #lose(): void {
    this.#over(() => this.#redo())
  }

  #redo(): void {
    if (!this.#hasBegun) return this.#alone()
    if (!this.#output.isGiven && !this.#isStdinTaken) return this.#alone()
    const message =
      'the process that serves the store ended before its answer was whole: run the same again'
    const isJson = process.argv.includes('--json')
    const fault = { schema: 'hstore.error/1', code: 'HSTORE_ANSWER_LOST', message }
    writeSync(2, isJson ? `${JSON.stringify(fault)}\n` : `hstore: ${message}\n`)
    process.exit(8)
  }

  #over(then: () => void): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#late)
    this.#socket.destroy()
    // only where it was read: making the stream takes longer than the rest
    if (this.#isStdinTaken) process.stdin.pause()
    then()
  }
}
