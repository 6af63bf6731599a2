import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Io, Terminal } from '../../src/cli/io.ts'
import { main } from '../../src/cli/program.ts'

/** The launcher, as an absolute path. */
export const launcher: string = fileURLToPath(new URL('../../bin/hstore', import.meta.url))

/** What a run of the command line left behind. */
export interface Ran {
  readonly exit: number
  /** What went to stdout, as text. */
  readonly out: string
  readonly outBytes: Uint8Array
  readonly err: string
}

/** What a run of the command line sees of the world. */
export interface RunOptions {
  readonly cwd?: string
  /** The whole environment, but for a PATH where a process is started. */
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string | Uint8Array
  /** Kills the process after this time. */
  readonly timeoutMs?: number
  /** What a person types at each question; without it there is no terminal. */
  readonly typed?: string
  /** The terminal that stdout is; none unless said. */
  readonly terminal?: Terminal
}

/** Runs one command line in this process, without a time limit. Nothing of this process's own environment is seen by it. */
export async function runCli(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const out: Buffer[] = []
  let err = ''
  const io: Io = {
    out: (data) => void out.push(Buffer.from(data)),
    err: (text) => {
      err += text
    },
    stdin: async () => new Uint8Array(Buffer.from(options.stdin ?? '')),
    ask: async () => options.typed,
    askSecret: async () => options.typed,
    terminal: options.terminal,
    cwd: options.cwd ?? '/nonexistent',
    env: options.env ?? {},
    machine: 'bench',
  }
  const exit = await main(argv, io)
  const outBytes = Buffer.concat(out)
  return { exit, out: outBytes.toString(), outBytes: new Uint8Array(outBytes), err }
}

/** Runs `bin/hstore` as a process of its own. */
export async function runProcess(
  argv: readonly string[],
  options: Omit<RunOptions, 'terminal' | 'typed'> = {},
): Promise<Ran & { readonly signal: NodeJS.Signals | null }> {
  const child = spawn(process.execPath, [launcher, ...argv], {
    cwd: options.cwd,
    env: { PATH: process.env['PATH'], ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: options.timeoutMs,
    killSignal: 'SIGKILL',
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.stdin ?? '')
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  const outBytes = Buffer.concat(out)
  return {
    exit: code ?? -1,
    signal,
    out: outBytes.toString(),
    outBytes: new Uint8Array(outBytes),
    err: Buffer.concat(err).toString(),
  }
}
