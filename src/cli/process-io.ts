import { hostname } from 'node:os'
import { HandoffError } from '../errors.ts'
import { whyOf } from '../kernel/errno.ts'
import type { Io, Terminal } from './io.ts'
import { readAll } from './read-all.ts'

/** Returns the io of this process. */
export function processIo(build?: string): Io {
  // a listener each, since an error of a stream without one ends the process
  process.stdout.on('error', () => undefined)
  process.stderr.on('error', () => undefined)
  return {
    out: write,
    isCutOff: () => isCutOff,
    err: (text) => process.stderr.write(text),
    stdin: () => readAll(process.stdin as AsyncIterable<Buffer>),
    stdinChunks: () => process.stdin as AsyncIterable<Buffer>,
    ask: (question) => askLine(question, false),
    askSecret: (question) => askLine(question, true),
    get terminal() {
      return process.stdout.isTTY ? terminal() : undefined
    },
    get cwd() {
      return workingFolder()
    },
    env: process.env,
    machine: hostname(),
    readsHistory,
    build,
  }
}

function terminal(): Terminal {
  return {
    // a terminal that does not know its width says 0
    columns: process.stdout.columns || 80,
    page: async (...of) => (await import('./process-pager.ts')).page(...of),
  }
}

function workingFolder(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new HandoffError(
      'HSTORE_USAGE',
      'the working directory is gone: change to one that is there',
      { cause },
    )
  }
}

/**
 * What a block is read into is garbage at once, and V8 would let 32 MiB of it lie about: 2 are as quick. Told late, since
 * code that was made under other flags is not taken.
 */
function readsHistory(): void {
  process.getBuiltinModule('node:v8').setFlagsFromString('--semi-space-growth-factor=1')
}

let isCutOff = false

/** A reader that has seen enough, as `head` does, is no fault: the verb goes on to its own exit code. */
function write(data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(data, (error) => {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      const isCut = code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED'
      if (isCut) isCutOff = true
      if (!error || isCut) resolve()
      else
        reject(
          new HandoffError(
            'HSTORE_OUTPUT_UNWRITABLE',
            `standard output can't be written: ${whyOf(error)}`,
          ),
        )
    })
  })
}

async function askLine(question: string, isSecret: boolean): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  const { createInterface } = await import('node:readline')
  const { Writable } = await import('node:stream')
  process.stderr.write(question)
  const muted = new Writable({ write: (_chunk, _encoding, done) => done() })
  const output = isSecret ? muted : process.stderr
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  try {
    return await new Promise((resolve) => {
      lines.once('line', resolve)
      lines.once('SIGINT', () => process.exit(130))
      lines.once('close', () => resolve(undefined))
    })
  } finally {
    lines.close()
    if (isSecret) process.stderr.write('\n')
  }
}
