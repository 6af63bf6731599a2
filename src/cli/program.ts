import { Command, CommanderError } from 'commander'
import { HstoreError } from '../kernel/errors.ts'
import { exitOf, exits } from './exit-codes.ts'
import type { Io } from './io.ts'
import { UsageError } from './io.ts'
import { escaped, plain } from './render.ts'
import type { VerbSpec } from './verb-table.ts'
import { globalOptions, programSummary, verbs } from './verb-table.ts'
import { version } from './version.ts'

/** The options that every verb takes. */
export interface GlobalOptions {
  readonly store?: string
  readonly keys?: string
  readonly as?: string
  readonly json?: boolean
  readonly wait?: string
  readonly genesis?: string
  readonly passphraseFile?: string
}

/** What a verb's file exports: the work behind one line of the command line. Returns the exit code. */
export type Verb = (
  io: Io,
  args: readonly string[],
  options: GlobalOptions & Readonly<Record<string, unknown>>,
) => Promise<number>

/** Runs the command line of this process and sets its exit code. */
export async function run(): Promise<void> {
  const { processIo } = await import('./process-io.ts')
  process.exitCode = await main(process.argv.slice(2), processIo())
}

/**
 * Runs one command line.
 *
 * @param argv - Without the program's own name.
 * @returns The exit code; see docs/cli.md. Never throws: what is no error of hstore's own is told as a bug.
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  let code: number = exits.ok
  try {
    const program = build(io, (exit) => {
      code = exit
    })
    if (argv.length === 0) {
      program.outputHelp({ error: true })
      return exits.usage
    }
    await program.parseAsync(helpWords(argv), { from: 'user' })
    return code
  } catch (error) {
    return report(error, io, argv)
  }
}

/** `help key new` is `key new --help`; commander's own knows one level. */
function helpWords(argv: readonly string[]): string[] {
  if (argv[0] !== 'help') return [...argv]
  const path = argv.slice(1).filter((word) => !word.startsWith('-'))
  let known: readonly VerbSpec[] | undefined = verbs
  for (const word of path) {
    const spec: VerbSpec | undefined = known?.find(({ name }) => name === word)
    if (spec === undefined)
      throw new UsageError(`there is no verb ${JSON.stringify(path.join(' '))}`)
    known = spec.verbs
  }
  return [...path, '--help']
}

function build(io: Io, done: (exit: number) => void): Command {
  const program = new Command('hstore')
    .description(programSummary)
    .version(version())
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => void io.out(text), writeErr: () => undefined })
    .showHelpAfterError(false)
  program.configureOutput({
    writeErr: (text) => (text.startsWith('error:') ? undefined : io.err(text)),
  })
  program.commandsGroup('More:').helpCommand('help [verb...]', 'Show the help of a verb')
  for (const [flags, description] of globalOptions) program.option(flags, description)
  // help lists groups in the order that they come in: what has none comes last
  const last = verbs.filter(({ group }) => group === undefined)
  for (const verb of [...verbs.filter(({ group }) => group !== undefined), ...last])
    add(program, verb, io, done)
  return program
}

function add(parent: Command, spec: VerbSpec, io: Io, done: (exit: number) => void): void {
  const command = parent.command(spec.name).summary(spec.summary)
  command.description([spec.summary, ...(spec.more ?? [])].join('\n\n'))
  if (spec.group !== undefined) command.helpGroup(`${spec.group}:`)
  command.addHelpText('after', `\nExample:\n  $ ${spec.example}`)
  for (const [flags, description] of spec.options ?? []) command.option(flags, description)
  for (const child of spec.verbs ?? []) add(command, child, io, done)
  const { load } = spec
  if (load === undefined) {
    const names = spec.verbs?.map(({ name }) => name).join(', ')
    command.allowExcessArguments().action(() => {
      throw new UsageError(`hstore ${spec.name} wants one of ${names}`)
    })
    return
  }
  for (const [name, description] of spec.args ?? []) command.argument(name, description)
  command.action(async () => {
    const verb = await load()
    done(await verb(io, command.args, command.optsWithGlobals()))
  })
}

/** The one catch: an error becomes one line (with --json one object) and an exit code. */
function report(error: unknown, io: Io, argv: readonly string[]): number {
  if (error instanceof CommanderError && error.exitCode === 0) return exits.ok
  const { code, message: words, details, exit } = told(error)
  const message = words + hintFor(error, argv)
  const line = plain(message)
  if (argv.includes('--json')) {
    io.err(`${escaped(JSON.stringify({ schema: 'hstore.error/1', code, message, ...details }))}\n`)
  } else io.err(`hstore: ${line}\n`)
  return exit
}

/** An option that takes several words takes all that follow, operands too. */
function hintFor(error: unknown, argv: readonly string[]): string {
  const isMissing = error instanceof CommanderError && error.code === 'commander.missingArgument'
  const greedy = argv.find((word) => word === '--parent' || word === '--accept-shallow')
  return isMissing && greedy !== undefined
    ? `: ${greedy} takes all words that follow, put the others before it`
    : ''
}

function told(error: unknown): { code: string; message: string; details: object; exit: number } {
  if (error instanceof HstoreError) {
    return {
      code: error.code,
      message: error.message,
      details: error.details,
      exit: exitOf(error.code) ?? exits.no,
    }
  }
  if (error instanceof CommanderError || error instanceof UsageError) {
    const message = error.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ')
    return {
      code: 'HSTORE_USAGE',
      message: `${message}; hstore --help lists the verbs`,
      details: {},
      exit: exits.usage,
    }
  }
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return {
    code: 'HSTORE_BUG',
    message: `this is a fault of hstore, please report it: ${what}`,
    details: {},
    exit: exits.no,
  }
}
