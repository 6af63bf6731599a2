import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { launcher } from './cli.ts'
import type { TestStore } from './store.ts'

/** `hstore serve` over HTTP as a process of its own; ended by its pid. */
export interface ServeProcess {
  readonly url: string
  readonly child: ChildProcess
  /** The most memory that it has had, by the kernel, in MiB; undefined where the kernel does not tell. */
  peakMib(): number | undefined
  close(): Promise<void>
}

/** Starts `hstore serve` at a free port of loopback. */
export async function startServe(
  store: TestStore,
  ...argv: readonly string[]
): Promise<ServeProcess> {
  const words = [launcher, 'serve', '--listen', '127.0.0.1:0', ...argv]
  const child = spawn(process.execPath, words, {
    env: { ...store.env, PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    child,
    url: said.toString().trim(),
    peakMib: () => peakOf(child.pid!),
    async close() {
      const ended = once(child, 'close')
      child.kill('SIGKILL')
      await ended
    },
  }
}

function peakOf(pid: number): number | undefined {
  if (process.platform !== 'linux') return undefined
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
}
