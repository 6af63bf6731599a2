import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const script = fileURLToPath(new URL('store-child.mjs', import.meta.url))

/** A second process on a store. */
export interface StoreProcess {
  readonly pid: number
  /** What it has said so far, line by line. */
  readonly lines: readonly string[]
  /** Resolves when it has said `count` lines; rejects when it ends before. */
  readonly said: (count: number) => Promise<void>
  /** Resolves to the exit code, null after a signal. */
  readonly ended: Promise<number | null>
  readonly kill: () => Promise<void>
}

/** Starts `hold`, `try`, `write` or `cycle` of store-child.mjs; it is killed when the test ends. */
export function startStoreProcess(verb: string, ...args: readonly string[]): StoreProcess {
  const child = spawn(process.execPath, [script, verb, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const ended = endOf(child)
  async function kill(): Promise<void> {
    child.kill('SIGKILL')
    await ended
  }
  async function said(count: number): Promise<void> {
    while (lines.length < count) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error('it ended early')
      await new Promise((resolve) => {
        setTimeout(resolve, 2)
      })
    }
  }
  onTestFinished(kill)
  return { pid: child.pid ?? 0, lines, said, ended, kill }
}

/** Ends once the output is read to its end, too. */
async function endOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'close')) as [number | null]
  return code
}
