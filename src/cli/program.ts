import { Command, CommanderError } from 'commander'
import { HstoreError } from '../kernel/errors.ts'
import { exitOf, exits } from './exit-codes.ts'
import type { Io } from './io.ts'
import { UsageError } from './io.ts'
import { escaped, plain } from './render.ts'
import { cleanUpOnSignals } from './signals.ts'
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

/**
 * Runs the command line of this process and sets its exit code.
 *
 * @param build - Which build this is.
 */
export async function run(build?: string): Promise<void> {
  const { processIo } = await import('./process-io.ts')
  cleanUpOnSignals()
  process.exitCode = await main(process.argv.slice(2), processIo(build))
}

/**
 * Runs one command line.
 *
 * @param argv - Without the program's own name.
 * @returns The exit code; see docs/cli.md. Throws only what `io.leaves`: what else is no error of hstore's own is told as
 * a bug.
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  const at: At = { path: [] }
  try {
    return await answer(argv, io, at)
  } catch (error) {
    if (io.leaves?.(error) === true) throw error
    return report(error, io, argv, at)
  }
}

/** The verb that the parser has reached, for what an error says. */
interface At {
  path: readonly string[]
}

async function answer(argv: readonly string[], io: Io, at: At): Promise<number> {
  let code: number = exits.ok
  const help: string[] = []
  // where the first word is a verb, the parser needs no other
  const only = verbs.filter(({ name }) => name === argv[0])
  const program = build(only.length > 0 ? only : verbs, at, help, async (verb, args, options) => {
    code = await verb(io, args, options)
  })
  if (argv.length === 0) {
    io.err(program.helpInformation({ error: true }))
    return exits.usage
  }
  try {
    await program.parseAsync(helpWords(argv), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError && error.exitCode === 0)) throw error
  }
  // the parser can't wait for its output, nor hear that it could not be written
  if (help.length > 0) await io.out(help.join(''))
  return code
}

/** `help key new` is `key new --help`; commander's own knows one level. */
function helpWords(argv: readonly string[]): string[] {
  if (argv[0] !== 'help') return [...argv]
  const path = argv.slice(1).filter((word) => !word.startsWith('-'))
  let known: readonly VerbSpec[] | undefined = verbs
  for (const word of path) {
    const spec: VerbSpec | undefined = known?.find(({ name }) => name === word)
    if (spec === undefined) throw noVerb(path)
    known = spec.verbs
  }
  return [...path, '--help']
}

function noVerb(path: readonly string[]): UsageError {
  return new UsageError(
    `there is no verb ${JSON.stringify(path.join(' '))}; hstore --help lists the verbs`,
  )
}

/** Runs a verb that the parser has found. */
type Start = (verb: Verb, args: readonly string[], options: Parameters<Verb>[2]) => Promise<void>

function build(wanted: readonly VerbSpec[], at: At, help: string[], start: Start): Command {
  const program = new Command('hstore')
    .description(programSummary)
    .version(version())
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => void help.push(text), writeErr: () => undefined })
    .showHelpAfterError(false)
  program.commandsGroup('More:').helpCommand('help [verb...]', 'Show the help of a verb')
  for (const [flags, description] of globalOptions) program.option(flags, description)
  // help lists groups in the order that they come in: what has none comes last
  const last = wanted.filter(({ group }) => group === undefined)
  followVerbs(program, [], at)
  for (const verb of [...wanted.filter(({ group }) => group !== undefined), ...last])
    add(program, verb, [], at, start)
  return program
}

/** Notes the verb that is reached, and keeps `hstore nope --help` from showing the help of what is above it. */
function followVerbs(command: Command, path: readonly string[], at: At): void {
  command.hook('preSubcommand', (_command, verb) => {
    at.path = [...path, verb.name()]
  })
  command.on('beforeHelp', () => {
    const [word] = command.args[0] === 'help' ? command.args.slice(1) : command.args
    if (word !== undefined && !word.startsWith('-')) throw noVerb([...path, word])
  })
}

function add(
  parent: Command,
  spec: VerbSpec,
  above: readonly string[],
  at: At,
  start: Start,
): void {
  const path = [...above, spec.name]
  const command = parent.command(spec.name).summary(spec.summary)
  command.description([spec.summary, ...(spec.more ?? [])].join('\n\n'))
  if (spec.group !== undefined) command.helpGroup(`${spec.group}:`)
  command.addHelpText('after', `\nExample:\n  $ ${spec.example}`)
  for (const [flags, description] of spec.options ?? []) command.option(flags, description)
  for (const child of spec.verbs ?? []) add(command, child, path, at, start)
  const { load } = spec
  if (load === undefined) {
    followVerbs(command, path, at)
    const names = spec.verbs?.map(({ name }) => name).join(', ')
    command.allowExcessArguments().action(() => {
      throw new UsageError(`hstore ${spec.name} wants one of ${names}`)
    })
    return
  }
  for (const [name, description] of spec.args ?? []) command.argument(name, description)
  command.action(async () => {
    const options = command.optsWithGlobals()
    assertFilled(command, options)
    await start(await load(), command.args, options)
  })
}

/**
 * A variable that is not set leaves an empty word, which names nothing: as a path it would be the working directory.
 * Free text may be empty.
 */
function assertFilled(
  { options: own, parent }: Command,
  given: Readonly<Record<string, unknown>>,
): void {
  for (const option of own) {
    const value = given[option.attributeName()]
    const isEmpty = value === '' || (Array.isArray(value) && value.includes(''))
    if (!isEmpty || /<(?:text|list)>$/.test(option.flags)) continue
    throw new UsageError(
      `${option.long ?? option.flags} is empty: give it a value, or leave it out`,
    )
  }
  if (parent !== null) assertFilled(parent, given)
}

/** The one catch: an error becomes one line (with --json one object) and an exit code. */
function report(error: unknown, io: Io, argv: readonly string[], at: At): number {
  const { code, message, details, exit } = told(error, argv, at)
  if (argv.includes('--json')) {
    io.err(`${escaped(JSON.stringify({ schema: 'hstore.error/1', code, message, ...details }))}\n`)
  } else io.err(`hstore: ${plain(message)}\n`)
  return exit
}

/** What a verb throws says what to do by itself; what the parser throws does not. */
function misuse(error: CommanderError, argv: readonly string[], { path }: At): string {
  if (error.code === 'commander.help') return noneGiven(argv)
  const words = error.message
    .replace(/^error: /, '')
    .replace(/^(unknown command '(?:fetch|pull|push)').*/s, '$1 (Did you mean sync?)')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '')
  const known = path.length > 0 ? `help ${path.join(' ')} says how` : '--help lists the verbs'
  return `${words}${greed(error, argv)}; hstore ${known}`
}

function noneGiven(argv: readonly string[]): string {
  const taker = argv.find(
    (word, i) => word.startsWith('--') && verbs.some(({ name }) => name === argv[i + 1]),
  )
  const why = taker === undefined ? '' : ` (did ${taker} take it?)`
  return `no verb was given${why}; hstore --help lists the verbs`
}

const greedyOptions: ReadonlySet<string> = new Set(
  'accept-shallow at except grant keep parent readmit'.split(' ').map((name) => `--${name}`),
)

/** An option that takes several words takes all that follow, operands too. */
function greed({ code }: CommanderError, argv: readonly string[]): string {
  const greedy = argv.find((word) => greedyOptions.has(word))
  return code === 'commander.missingArgument' && greedy !== undefined
    ? `: ${greedy} takes all words that follow, put the others before it`
    : ''
}

function told(
  error: unknown,
  argv: readonly string[],
  at: At,
): { code: string; message: string; details: object; exit: number } {
  if (error instanceof HstoreError) {
    return {
      code: error.code,
      message: error.message,
      details: error.details,
      exit: exitOf(error.code) ?? exits.no,
    }
  }
  if (error instanceof CommanderError || error instanceof UsageError) {
    const message = error instanceof UsageError ? error.message : misuse(error, argv, at)
    return { code: 'HSTORE_USAGE', message, details: {}, exit: exits.usage }
  }
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return {
    code: 'HSTORE_BUG',
    message: `this is a fault of hstore, please report it: ${what}`,
    details: {},
    exit: exits.no,
  }
}
