import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, symlink } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Ran, RunOptions } from './cli.ts'
import { launcher } from './cli.ts'
import type { TestStore } from './store.ts'

/** A process that serves a store over its local socket. */
export interface LocalServe {
  readonly child: ChildProcess
  readonly socket: string
  kill(signal?: NodeJS.Signals): Promise<void>
}

/** Starts `hstore serve`; it is killed when the test ends. */
export async function startServe(
  { root, env }: TestStore,
  more: Readonly<Record<string, string>> = {},
): Promise<LocalServe> {
  const child = spawn(process.execPath, [launcher, 'serve'], {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = once(child, 'close')
  const kill = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    child.kill(signal)
    await ended
  }
  onTestFinished(() => kill())
  const [line] = (await Promise.race([once(child.stdout, 'data'), ended])) as [unknown]
  if (!Buffer.isBuffer(line)) throw new Error(`serve ended: ${said}`)
  return { child, socket: line.toString().trim(), kill }
}

/**
 * Makes a launcher of the same build that has nothing but its first file: what it answers, another process has done.
 *
 * @returns Its path.
 */
export async function makeThinLauncher(folder: string): Promise<string> {
  const from = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url))
  await mkdir(path.join(folder, 'bin'), { recursive: true })
  await mkdir(path.join(folder, 'dist/cli'), { recursive: true })
  for (const file of ['bin/hstore', 'bin/package.json'])
    await cp(from(file), path.join(folder, file))
  for (const file of ['dist/.built', 'dist/cli/start.cjs'])
    await symlink(from(file), path.join(folder, file))
  return path.join(folder, 'bin/hstore')
}

/** What keeps a process from asking another: a passphrase that no key needs. */
export const alone: Readonly<Record<string, string>> = { HSTORE_PASSPHRASE: 'not needed' }

/** Runs a launcher on a store as a process of its own. */
export async function runOn(
  { root, env }: TestStore,
  argv: readonly string[],
  options: Pick<RunOptions, 'cwd' | 'env' | 'stdin'> & { readonly bin?: string } = {},
): Promise<Pick<Ran, 'err' | 'exit' | 'out'>> {
  const { bin = launcher, cwd = root, stdin = '' } = options
  const child = spawn(process.execPath, [bin, ...argv], {
    cwd,
    env: { PATH: process.env['PATH'], ...env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin)
  const [code] = (await once(child, 'close')) as [number | null]
  return {
    exit: code ?? -1,
    out: Buffer.concat(out).toString('latin1'),
    err: Buffer.concat(err).toString('latin1'),
  }
}
