import { once } from 'node:events'
import { hostname } from 'node:os'
import type { Io } from './io.ts'

const maxStdinBytes = 64 * 1024 * 1024

/** Returns the io of this process. */
export function processIo(): Io {
  return {
    out: async (data) => {
      if (!process.stdout.write(data)) await once(process.stdout, 'drain')
    },
    err: (text) => process.stderr.write(text),
    stdin: readStdin,
    askSecret,
    cwd: process.cwd(),
    env: process.env,
    machine: hostname(),
  }
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxStdinBytes) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

async function askSecret(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  const { createInterface } = await import('node:readline')
  const { Writable } = await import('node:stream')
  process.stderr.write(question)
  const muted = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: muted, terminal: true })
  try {
    return await new Promise((resolve) => {
      lines.once('line', resolve)
      lines.once('close', () => resolve(undefined))
    })
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}
