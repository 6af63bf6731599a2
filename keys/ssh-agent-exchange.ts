import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { KeyError } from './errors.ts'

/** OpenSSH's own bound on what an agent says or hears. */
const MOST_BYTES = 262_144

/** How much later than the thread this side gives up on it: it may be slow to start. */
const GRACE_MS = 5000

/** What the thread answers; `why` is a code of node:net or one of the words below. */
type Answer = { readonly answer: Uint8Array } | { readonly why: string }

/*
 * Entries are planned, signed and queued in one go, so that nothing comes in between, and node has no call that waits
 * for a socket: a thread of its own talks to the agent. It is text because the command line is one bundled file, in
 * which no path leads to a second one.
 */
const TALK = `
const { workerData: { port, flag } } = require('node:worker_threads')
const { connect } = require('node:net')

function ask({ path, request, limitMs, mostBytes }, done) {
  const chunks = []
  let size = 0
  let length
  let socket
  let timer
  const end = (result) => {
    clearTimeout(timer)
    socket?.destroy()
    done(result)
    done = () => {}
  }
  timer = setTimeout(() => end({ why: 'TIMEOUT' }), limitMs)
  try {
    socket = connect({ path })
  } catch (error) {
    return end({ why: String(error.code) })
  }
  socket.on('error', (error) => end({ why: String(error.code) }))
  socket.on('close', () => end({ why: 'CLOSED' }))
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    size += chunk.length
    if (size < 4) return
    length ??= Buffer.concat(chunks).readUInt32BE(0)
    if (length < 1 || length > mostBytes || size > 4 + length) return end({ why: 'GARBLED' })
    if (size === 4 + length) end({ answer: Uint8Array.from(Buffer.concat(chunks).subarray(4)) })
  })
  socket.write(request)
}

port.on('message', (question) => {
  ask(question, (result) => {
    port.postMessage(result)
    Atomics.store(flag, 0, 1)
    Atomics.notify(flag, 0)
  })
})
`

interface Line {
  readonly port: MessagePort
  readonly flag: Int32Array
  readonly worker: Worker
}

let open: Line | undefined

/**
 * Returns an ssh-agent's answer to one request, without the length in front of either. Waits for it, with this whole
 * thread, at most `limitMs` and a grace; the answer has 1 byte to 256 KiB.
 *
 * @param socketPath - As SSH_AUTH_SOCK names it.
 * @throws {KeyError} `HSTORE_SSH_AGENT_MISSING` when there is no agent, or none that answers in time and form.
 */
export function askSshAgent(socketPath: string, request: Uint8Array, limitMs: number): Uint8Array {
  const line = (open ??= openLine())
  Atomics.store(line.flag, 0, 0)
  const framed = Buffer.alloc(4 + request.length)
  framed.writeUInt32BE(request.length)
  framed.set(request, 4)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- of a window's; a port has no origin
  line.port.postMessage({ path: socketPath, request: framed, limitMs, mostBytes: MOST_BYTES })
  Atomics.wait(line.flag, 0, 0, limitMs + GRACE_MS)
  const given = receiveMessageOnPort(line.port)?.message as Answer | undefined
  if (given === undefined) {
    // what it may still say would be taken for the answer to the next question
    open = undefined
    void line.worker.terminate()
  }
  if (given !== undefined && 'answer' in given) return given.answer
  throw unreachable(socketPath, given?.why ?? 'TIMEOUT', limitMs)
}

function openLine(): Line {
  const { port1, port2 } = new MessageChannel()
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const workerData = { port: port2, flag }
  const worker = new Worker(TALK, { eval: true, workerData, transferList: [port2], env: {} })
  worker.unref()
  port1.unref()
  return { port: port1, flag, worker }
}

function unreachable(socketPath: string, why: string, limitMs: number): KeyError {
  const seconds = limitMs / 1000
  const words = new Map([
    ['CLOSED', 'hung up without an answer'],
    ['EACCES', 'may not be used by you'],
    ['ECONNREFUSED', 'is not there any more: start one, and set SSH_AUTH_SOCK'],
    ['ENOENT', 'is not there: start one, and set SSH_AUTH_SOCK'],
    ['GARBLED', 'gave an answer that is none'],
    ['TIMEOUT', `did not answer within ${seconds} seconds`],
  ])
  return new KeyError(
    'HSTORE_SSH_AGENT_MISSING',
    `the ssh-agent at ${socketPath} ${words.get(why) ?? `can't be used (${why})`}`,
  )
}
