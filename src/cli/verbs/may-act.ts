import type { HrcFile } from '../../contracts/hrc/read-file.ts'
import type { LastContact } from '../../may-act/last-contact.ts'
import { askMayAct, askQuiescence } from '../../may-act/in-store.ts'
import type { MayActReport, QuiescenceReport } from '../../may-act/may-act.ts'
import { ageOf } from '../age.ts'
import { exitOfExecution } from '../exit-codes.ts'
import { readInput } from '../input.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { GlobalOptions, Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openOptions } from '../settings.ts'

type Options = GlobalOptions & Readonly<Record<string, unknown>>

/** `hstore may-act`: whether an execution may still cause effects, or those that lost the ownership have ended. */
export const mayAct: Verb = async (io, _args, options) => {
  const now = Math.floor(Date.now() / 1000)
  const report =
    options['quiescent'] === undefined
      ? await askOne(io, options, now)
      : await askAll(io, options, now)
  const { status, detail } = report
  if (options.json === true) {
    await io.out(jsonLine('may-act', report))
    return exitOfExecution(status)
  }
  const lines = Object.entries(detail).map(([key, value]) => plain(`${key} ${wordsOf(value)}`))
  await io.out(`${[status, ...lines].join('\n')}\n`)
  for (const line of talkOf(report)) io.err(`hstore: ${plain(line)}\n`)
  return exitOfExecution(status)
}

async function askOne(io: Io, options: Options, now: number): Promise<MayActReport> {
  refuse(options, ['executions'], '--execution')
  const execution = await given(io, options, 'execution')
  if (execution === undefined) {
    throw new UsageError('--execution FILE is missing, or --quiescent LANE with --executions FILE')
  }
  const parent = await given(io, options, 'parent')
  const lane = options['lane'] as string | undefined
  return askMayAct(openOptions(io, options), { execution, parent, lane }, now)
}

async function askAll(io: Io, options: Options, now: number): Promise<QuiescenceReport> {
  refuse(options, ['execution', 'parent', 'lane'], '--quiescent')
  const executions = await given(io, options, 'executions')
  if (executions === undefined) throw new UsageError('--executions FILE is missing')
  const lane = options['quiescent'] as string
  return askQuiescence(openOptions(io, options), lane, executions, now)
}

function refuse(options: Options, others: readonly string[], what: string): void {
  const other = others.find((name) => options[name] !== undefined)
  if (other !== undefined) throw new UsageError(`${what} and --${other} do not go together`)
}

async function given(io: Io, options: Options, name: string): Promise<HrcFile | undefined> {
  const file = options[name]
  if (typeof file !== 'string') return undefined
  return { bytes: await readInput(io, file), name: file }
}

function wordsOf(value: string | number | readonly string[]): string {
  if (typeof value !== 'object') return String(value)
  return value.length === 0 ? 'none' : value.join(' ')
}

function talkOf(report: MayActReport | QuiescenceReport): readonly string[] {
  const { lane, owner, epoch } = report
  const more =
    'notMade' in report
      ? report.notMade.map((what) => `no check: ${what}`)
      : [`${report.ofLane} of ${report.executions} executions are bound to the lane`]
  return [
    `${lane} is held by ${owner} at epoch ${epoch}; ${contactText(report.lastContact)}`,
    ...more,
  ]
}

function contactText(contact: LastContact | null): string {
  if (contact === null) return 'never synced with a named remote'
  return `last contact ${ageOf(contact.ageSeconds * 1000)} ago, with ${contact.remote}`
}
