import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const script = fileURLToPath(new URL('../cli/put-child.mjs', import.meta.url))

/** A process that puts envelopes; see test/cli/put-child.mjs. */
export interface PutProcess {
  /** The CIDs that it has printed in whole lines so far. */
  printed(): readonly string[]
  /** What it said on stderr. */
  said(): string
  /** Resolves to the exit code, null after a signal. */
  readonly ended: Promise<number | null>
  kill(): Promise<void>
}

/** Starts put-child.mjs; it is killed when the test ends. */
export function startPuts(verb: 'each' | 'endless', ...args: readonly string[]): PutProcess {
  const child = spawn(process.execPath, [script, verb, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)
  return { printed: () => out.split('\n').slice(0, -1), said: () => err, ended, kill }
}
