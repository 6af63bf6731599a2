import type { ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeFrames, FrameReader } from '../../store/frames.ts'
import type { IncomingMessage, Message } from '../../store/wire.ts'
import { decodeMessage, encodeMessage } from '../../store/wire.ts'
import { HandoffError } from '../errors.ts'
import { whyOf } from '../kernel/errno.ts'
import { HstoreError } from '../kernel/errors.ts'
import { quoted, shownAtMost } from '../kernel/shown.ts'
import { Pace } from './pace.ts'
import { Patience, within } from './patience.ts'
import type { Transport } from './protocol.ts'

/** How ssh is called. */
export interface SshOptions {
  /** The words that begin the command; the system's ssh unless said. */
  readonly command: readonly string[]
  /** How long nothing may come, in ms. */
  readonly idleMs: number
}

const maxTold = 2000
const lastWordsMs = 5000
const endMs = 1000

type SshProcess = ChildProcessByStdio<Writable, Readable, Readable>

/** A store on another machine: `hstore serve --stdio` there, through the system's ssh. */
export class SshTransport implements Transport {
  readonly name: string
  readonly mayOverlap = true
  readonly #child: SshProcess
  readonly #reader: FrameReader
  readonly #failed: Promise<never>
  readonly #idleMs: number
  readonly #patience: Patience
  readonly #pace = new Pace()
  readonly #ended: Promise<void>
  /** Answers come in the order of the questions: each is read once the one before has been. */
  #lastRead: Promise<void> = Promise.resolve()
  #told = ''
  #isOver = false

  /** @param url - `ssh://[user@]host[:port]/path`. */
  constructor(url: string, { command, idleMs }: SshOptions) {
    this.name = url
    this.#child = this.#start([...command, ...argumentsOf(url)])
    this.#child.stderr.on('data', (chunk: Buffer) => {
      this.#told = (this.#told + chunk.toString()).slice(-maxTold)
    })
    this.#child.stdin.on('error', () => undefined)
    this.#failed = new Promise((_resolve, reject) => {
      this.#child.on('error', (error) => reject(this.#fault(error.message)))
    })
    this.#failed.catch(() => undefined)
    this.#idleMs = idleMs
    this.#patience = new Patience(idleMs)
    this.#ended = new Promise((resolve) => {
      this.#child.once('exit', () => resolve())
      this.#child.once('error', () => resolve())
    })
    this.#reader = new FrameReader(
      this.#patience.bound(this.#child.stdout, () => this.#fault('it says nothing, or too little')),
    )
  }

  async ask(request: Message): Promise<IncomingMessage> {
    try {
      return await Promise.race([this.#ask(request), this.#failed])
    } catch (error) {
      if (error instanceof HandoffError || !(error instanceof HstoreError)) throw error
      throw new HandoffError('HSTORE_REMOTE_INVALID', `${this.name}: ${error.message}`, {
        cause: error,
      })
    }
  }

  /** Some of what keeps a program from being started is thrown, the rest an event. */
  #start([program = 'ssh', ...words]: readonly string[]): SshProcess {
    try {
      return spawn(program, words, { stdio: ['pipe', 'pipe', 'pipe'] })
    } catch (error) {
      throw this.#fault(whyOf(error))
    }
  }

  async #ask(request: Message): Promise<IncomingMessage> {
    const before = this.#lastRead
    let endRead = (): void => undefined
    this.#lastRead = new Promise((resolve) => {
      endRead = resolve
    })
    const startMs = performance.now()
    const sentBytes = await this.#send(request)
    await within(before, this.#idleMs, () => this.#fault('its answer was not read to the end'))
    this.#patience.renew(this.#pace.allowanceMs(sentBytes))
    const message = await this.#reader.next()
    this.#pace.note(sentBytes, performance.now() - startMs)
    if (message !== undefined) return decodeMessage(endedBy(message, endRead))
    // why, it may still be about to say
    const fault = (): Error => this.#fault('it broke off')
    if (this.#child.exitCode === null) await within(once(this.#child, 'close'), lastWordsMs, fault)
    throw fault()
  }

  /** Returns how many bytes were sent. */
  async #send(request: Message): Promise<number> {
    let sentBytes = 0
    for await (const chunk of encodeFrames(encodeMessage(request))) {
      if (this.#isOver || !this.#child.stdin.writable) throw this.#fault('it broke off')
      if (!this.#child.stdin.write(chunk)) await this.#drained(chunk.length)
      sentBytes += chunk.length
    }
    return sentBytes
  }

  async #drained(sizeBytes: number): Promise<void> {
    const { stdin } = this.#child
    // whichever does not come would be listened for as long as the process lives
    const over = new AbortController()
    const ends = ['drain', 'close'].map((end) => once(stdin, end, { signal: over.signal }))
    const drained = Promise.race(ends)
      .catch(() => {
        throw this.#fault('it broke off')
      })
      .finally(() => over.abort())
    const mostMs = this.#idleMs + this.#pace.allowanceMs(sizeBytes)
    await within(drained, mostMs, () => this.#fault('it takes nothing more'))
  }

  #fault(why: string): HandoffError {
    const words = lastWords(this.#told)
    const told = words === '' ? '' : `: ${quoted(words)}`
    return new HandoffError('HSTORE_REMOTE_FAILED', `${this.name}: ${why}${told}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    this.#child.stdin.end()
    this.#child.stdout.destroy()
    // it closes its store, unless it has no mind to end
    const over = new AbortController()
    const late = sleep(endMs, undefined, { signal: over.signal }).catch(() => undefined)
    await Promise.race([this.#ended, late])
    over.abort()
    this.#child.kill()
    this.#child.unref()
  }
}

/** What went wrong stands in the last lines of what ssh says; as many of them as are shown, on one line. */
function lastWords(told: string): string {
  const lines = told
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  let words = lines.pop() ?? ''
  for (const line of lines.toReversed()) {
    if (line.length + words.length + 2 > shownAtMost) break
    words = `${line}; ${words}`
  }
  return words
}

async function* endedBy(
  chunks: AsyncIterable<Uint8Array>,
  end: () => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } finally {
    end()
  }
}

/** What the host is told to run, and how ssh gets there. No word of the address can be taken for an option. */
function argumentsOf(url: string): string[] {
  const { hostname, port, username, folder } = addressOf(url)
  const user = username === '' ? hostname : `${username}@${hostname}`
  const remote = `hstore serve --stdio --store ${shellWord(folder.replace(/^\/~/, '~'))}`
  return ['-T', ...(port === '' ? [] : ['-p', port]), '--', user, remote]
}

/** Throws `HSTORE_USAGE` when a text is no address of a store over ssh. */
export function assertSshAddress(text: string): void {
  addressOf(text)
}

function addressOf(text: string): SshAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const { hostname = '', port = '' } = url ?? {}
  refusePassword(url)
  const [username, folder] = [decoded(url?.username), decoded(url?.pathname)]
  const isPlain = [hostname, username].every((word) => !word.startsWith('-'))
  if (isPlain && hostname !== '' && folder.length > 1) return { hostname, port, username, folder }
  const why = isPlain ? '' : ' whose host and user begin with no -'
  const message = `${quoted(text)} is no ssh://[user@]host[:port]/path${why}`
  throw new HandoffError('HSTORE_USAGE', message)
}

/** It is not shown: messages go into logs. */
function refusePassword(url: URL | undefined): void {
  if (url === undefined || url.password === '') return
  const message = `ssh://${url.hostname} takes no password: ssh asks for it`
  throw new HandoffError('HSTORE_USAGE', message)
}

type SshAddress = Readonly<Record<'folder' | 'hostname' | 'port' | 'username', string>>

/** Returns what a part of an address means; «-», which no part may be, where no program could be told it. */
function decoded(part: string = ''): string {
  try {
    const text = decodeURIComponent(part)
    return text.includes('\0') ? '-' : text
  } catch {
    return '-'
  }
}

/** A path as one word of a shell; a leading `~/` stays what it is. */
function shellWord(text: string): string {
  const home = text.startsWith('~/') ? '~/' : ''
  return `${home}'${text.slice(home.length).replaceAll("'", String.raw`'\''`)}'`
}
