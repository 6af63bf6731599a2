import type { CutPlace } from '../roster/cut-plan.ts'
import type { RosterChange } from '../roster/roster-change.ts'
import type { RosterMade, SignOptions } from '../roster/rosters.ts'
import type { Io } from './io.ts'
import { UsageError } from './io.ts'
import type { GlobalOptions } from './program.ts'
import { jsonLine, plain } from './render.ts'
import { cutLines, madeLines } from './roster-lines.ts'
import { openNamed } from './settings.ts'

/** The options of a verb that changes the roster. */
export type Options = GlobalOptions & Readonly<Record<string, unknown>>

/** Shows what a change leaves outside, asks, and makes it. */
export async function makeAsked(io: Io, change: RosterChange, options: Options): Promise<number> {
  await using store = await openNamed(io, options)
  const plan = await store.rosters.plan(change)
  if (plan.next !== undefined) {
    printLines(io, [...plan.lines, ...plan.cuts.flatMap(cutLines)])
    if (!(await agreed(io, options))) return 1
  }
  const made = await store.rosters.make(change, signOptions(options))
  return tellMade(io, made, options, nothingTold(change))
}

function nothingTold(change: RosterChange): string {
  return change.change === 'revoke' && change.grants.length > 0
    ? 'nothing of it is open but what is kept'
    : 'nothing of it is open'
}

/** Returns how a version is to be signed. */
export function signOptions(options: Options): SignOptions {
  return { instead: options['instead'] === true }
}

/** Returns where a cut is to be made, as the options say. */
export function placeOf(options: Options): CutPlace {
  const at = listOf(options['at'])
  const except = listOf(options['except'])
  const isHead = options['asOfHead'] === true
  if (isHead === at.length > 0)
    throw new UsageError(
      'say what stays good: either --as-of-head, or --at with entries of the key',
    )
  const isNone = at.length === 1 && at[0] === 'none'
  return { at: isHead ? 'head' : isNone ? [] : at, except }
}

/** Returns the words of an option that takes several. */
export function listOf(words: unknown): readonly string[] {
  return (words as readonly string[] | undefined) ?? []
}

/** Says lines on stderr. */
export function printLines(io: Io, lines: readonly string[]): void {
  for (const line of lines) io.err(`${plain(line)}\n`)
}

/** Asks whether to go on; without a terminal --yes has to say so. */
export async function agreed(io: Io, options: Options): Promise<boolean> {
  if (options['yes'] === true) return true
  const answer = await io.ask('Go on? (yes or no) ')
  if (answer === undefined)
    throw new UsageError(
      'nothing was changed: there is no terminal to ask at, so look at the lines above and add --yes',
    )
  if (/^y(?:es)?$/i.test(answer.trim())) return true
  io.err('hstore: nothing was changed\n')
  return false
}

/** Prints what was made; ends with 3 where more signatures are wanted. */
export async function tellMade(
  io: Io,
  made: RosterMade,
  { json }: GlobalOptions,
  nothing: string,
): Promise<number> {
  await io.out(json === true ? jsonLine('roster', made) : printed(madeLines(made)))
  for (const pattern of made.unfit)
    io.err(
      `hstore: warning: ${plain(JSON.stringify(pattern))} fits no stream here yet: hstore heads lists them\n`,
    )
  if (!made.new) io.err(`hstore: ${nothing}\n`)
  if (made.candidate === null) return 0
  printLines(io, [
    `hstore: version ${made.candidate.version} waits for more signatures: hstore roster sign ${made.candidate.body}`,
  ])
  return 3
}

/** Returns lines as text for stdout. */
export function printed(lines: readonly string[]): string {
  return `${lines.map(plain).join('\n')}\n`
}
