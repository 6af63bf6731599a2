import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Ran } from './cli.ts'
import type { TestStore } from './store.ts'

const script = fileURLToPath(new URL('../cli/verbs-child.mjs', import.meta.url))

/** What a command line left; `exit` is -1 where the process itself was ended, and `err` is then what it said last. */
export type Left = Pick<Ran, 'err' | 'exit' | 'out'>

/**
 * Runs command lines on a store one after the other in processes of their own: one process for all, and a new one after
 * each that ends it. The line `['held', …CIDs]` gives those whose blocks the database holds, as JSON.
 */
export async function runVerbs(
  { root, env }: TestStore,
  lines: readonly (readonly string[])[],
): Promise<readonly Left[]> {
  const left: Left[] = []
  while (left.length < lines.length) {
    const args = [root, JSON.stringify(env), JSON.stringify(lines.slice(left.length))]
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    for (const line of out.split('\n').slice(0, -1)) left.push(JSON.parse(line) as Left)
    if (left.length < lines.length) left.push({ exit: -1, out: '', err: `${code}: ${err}` })
  }
  return left
}
