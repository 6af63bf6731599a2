import { cp, readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Io } from '../../src/cli/io.ts'
import { main } from '../../src/cli/program.ts'

/** A fenced block of a page. */
export interface CodeFence {
  /** What stands behind the first fence: the language, then whatever else. */
  readonly info: string
  /** The lines between the fences, each with its line end. */
  readonly text: string
  /** The line of the first fence in the page, from 1. */
  readonly line: number
}

/** One command of a transcript with what it is to print and its exit code. */
export interface Step {
  readonly command: string
  /** `[..]` stands for anything in a line, and on a line of its own for any lines. */
  readonly output: readonly string[]
  readonly exit: number
}

/** Where transcripts run: a folder, an environment and the variables set so far. */
export interface Shell {
  cwd: string
  readonly env: Record<string, string | undefined>
}

/** What a command printed, on both channels together as a terminal shows it, and its exit code. */
export interface Ran {
  readonly printed: string
  readonly exit: number
}

/** Returns the fenced blocks of a page of Markdown, in order. */
export function codeFences(page: string): CodeFence[] {
  const fences: CodeFence[] = []
  let open: { info: string; lines: string[]; line: number } | undefined
  for (const [i, line] of page.split('\n').entries()) {
    if (open === undefined) {
      const info = /^```(.+)$/.exec(line)?.[1]
      if (info !== undefined) open = { info, lines: [], line: i + 1 }
    } else if (line === '```') {
      fences.push({ info: open.info, text: open.lines.join(''), line: open.line })
      open = undefined
    } else open.lines.push(`${line}\n`)
  }
  return fences
}

/** Returns the steps of a console block: each `$ ` begins one, `? N` is its exit code, the rest its output. */
export function parseTranscript(text: string): Step[] {
  const steps: { command: string; output: string[]; exit: number }[] = []
  for (const line of text.trimEnd().split('\n')) {
    const last = steps.at(-1)
    const exit = /^\? (\d+)$/.exec(line)?.[1]
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), output: [], exit: 0 })
    else if (last === undefined) throw new Error(`a transcript begins with a command: ${line}`)
    else if (exit === undefined) last.output.push(line)
    else last.exit = Number(exit)
  }
  return steps
}

/** Returns whether printed text is what a transcript shows. */
export function isShown(printed: string, shown: readonly string[]): boolean {
  const lines = shown.map((line) =>
    line === '[..]'
      ? '(?:[^\\n]*\\n)*'
      : `${line.split('[..]').map(escapeRegExp).join('[^\\n]*')}\\n`,
  )
  return new RegExp(`^${lines.join('')}$`).test(printed)
}

/**
 * Runs one command: `hstore …` in process, `name=$(hstore …)` to keep what it prints on stdout, and as much of a shell
 * as walk-throughs need (`cd`, `cp -r`, `cat`, `cmp`, `sed -i s/a/b/`, `truncate -s`, `export`). `$name` is replaced, `#` begins a comment.
 */
export async function runCommand(shell: Shell, command: string): Promise<Ran> {
  const assigned = /^([a-z_]+)=\$\((.*)\)$/.exec(command)
  if (assigned === null) return runWords(shell, wordsOf(shell, command), true)
  const [, name = '', inner = ''] = assigned
  const ran = await runWords(shell, wordsOf(shell, inner), false)
  shell.env[name] = ran.out.trimEnd()
  return { printed: ran.err, exit: ran.exit }
}

async function runWords(
  shell: Shell,
  [program, ...args]: readonly string[],
  isShown: boolean,
): Promise<Ran & { readonly out: string; readonly err: string }> {
  let printed = ''
  let out = ''
  let err = ''
  const io: Io = {
    out: (data) => {
      const text = typeof data === 'string' ? data : Buffer.from(data).toString()
      printed += text
      out += text
    },
    err: (text) => {
      printed += text
      err += text
    },
    stdin: async () => new Uint8Array(),
    ask: async () => undefined,
    askSecret: async () => undefined,
    cwd: shell.cwd,
    env: shell.env,
    machine: 'pier',
  }
  const exit = program === 'hstore' ? await main(args, io) : await builtIn(shell, io, program, args)
  return { printed: ended(isShown ? printed : err), out, err, exit }
}

/** The prompt that follows begins a line, whether the output ended one or not. */
function ended(printed: string): string {
  return printed === '' || printed.endsWith('\n') ? printed : `${printed}\n`
}

type BuiltIn = (shell: Shell, io: Io, args: readonly string[]) => Promise<void>

function at({ cwd }: Shell, file: string | undefined): string {
  return path.resolve(cwd, file ?? '')
}

const builtIns: ReadonlyMap<string, BuiltIn> = new Map<string, BuiltIn>([
  ['cat', async (shell, io, [file]) => io.out(await readFile(at(shell, file)))],
  [
    'cd',
    async (shell, _io, [folder]) => {
      shell.cwd = at(shell, folder)
    },
  ],
  ['cp', (shell, _io, [, from, to]) => cp(at(shell, from), at(shell, to), { recursive: true })],
  [
    'export',
    async ({ env }, _io, [word = '']) => {
      const [name = '', value = ''] = word.split('=')
      env[name] = value
    },
  ],
  [
    'cmp',
    async (shell, io, [a, b]) => {
      const [one, other] = [await readFile(at(shell, a)), await readFile(at(shell, b))]
      if (!one.equals(other)) await io.out(`${a} ${b} differ\n`)
    },
  ],
  [
    'sed',
    async (shell, _io, [, script = '', file]) => {
      const [, from = '', to = ''] = script.split('/')
      const text = await readFile(at(shell, file), 'utf8')
      await writeFile(at(shell, file), text.replace(from, to))
    },
  ],
  ['truncate', (shell, _io, [, size, file]) => truncateAll(at(shell, file), Number(size))],
])

async function builtIn(
  shell: Shell,
  io: Io,
  program: string | undefined,
  args: readonly string[],
): Promise<number> {
  const found = builtIns.get(program ?? '')
  if (found === undefined) throw new Error(`no command of a transcript: ${program}`)
  await found(shell, io, args)
  return 0
}

/** Cuts the file that a path names to a size, or those of a folder that end as it says after an asterisk. */
async function truncateAll(file: string, sizeBytes: number): Promise<void> {
  const [before = '', end] = path.basename(file).split('*')
  const folder = path.dirname(file)
  const names = end === undefined ? [before] : await readdir(folder)
  for (const name of names.filter((name) => name.endsWith(end ?? before)))
    await truncate(path.join(folder, name), sizeBytes)
}

/** Splits into words at spaces; quotes keep them together, double ones replace variables as no quotes do. */
function wordsOf(shell: Shell, command: string): string[] {
  const words: string[] = []
  for (const [part] of command.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)) {
    if (part.startsWith('#')) break
    const pieces = [...part.matchAll(/"([^"]*)"|'([^']*)'|([^"']+)/g)]
    words.push(
      pieces
        .map(([, double, single, bare]) => single ?? filled(shell, double ?? bare ?? ''))
        .join(''),
    )
  }
  return words
}

function filled({ env }: Shell, text: string): string {
  const home = text.replace(/^~(?=\/|$)/, env['HOME'] ?? '~')
  return home.replaceAll(/\$([A-Za-z_]+)/g, (_, name: string) => env[name] ?? '')
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)
}
