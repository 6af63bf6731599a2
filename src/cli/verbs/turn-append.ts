import path from 'node:path'
import type { TurnDraft } from '../../contracts/turns/draft.ts'
import { flagFields } from '../../contracts/turns/draft.ts'
import { HandoffError } from '../../errors.ts'
import { bounded } from '../../kernel/shown.ts'
import { removeLeftovers } from '../../leftover-files.ts'
import type { AppendReport } from '../../relay/append.ts'
import { exits } from '../exit-codes.ts'
import { readInput } from '../input.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { GlobalOptions, Verb } from '../program.ts'
import { tellDiff } from '../relay-diff.ts'
import { relayOf, relayReader } from '../relay-files.ts'
import { jsonLine } from '../render.ts'
import { openNamed } from '../settings.ts'

type Options = GlobalOptions & Readonly<Record<string, unknown>>

/** `hstore turn append`: writes a turn into the store, and into the relay's file where one is named. */
export const turnAppend: Verb = async (io, [agent = ''], options) => {
  const relay = relayOf(options)
  const file = textOf(options, 'file')
  const archive = textOf(options, 'archive')
  if (file === '-') throw new UsageError('--file names a file: a turn is written into it')
  if (file === undefined && archive !== undefined)
    throw new UsageError('--archive goes with --file')
  const draft = await draftOf(io, agent, options)
  const files = file === undefined ? undefined : await relayReader(io, file, archive)
  if (file !== undefined) await removeLeftovers(path.resolve(io.cwd, file))
  await using store = await openNamed(io, options)
  const into =
    file === undefined || files === undefined
      ? undefined
      : { path: path.resolve(io.cwd, file), files }
  const parents = options['parent'] as readonly string[] | undefined
  const report = await store.turns.append(relay, draft, into, parents).catch((error: unknown) => {
    tellDiff(io, options, error)
    throw error
  })
  await io.out(options.json === true ? jsonLine('turn-append', report) : `${report.cid}\n`)
  tell(io, report, options.json === true)
  return exits.ok
}

function tell(io: Io, report: AppendReport, isJson: boolean): void {
  const { agent, claimed, imported, number, to } = report
  if (imported > 0) io.err(`hstore: ${imported} turns of the file went in before it\n`)
  if (claimed > 0) io.err(`hstore: ${claimed} earlier turns are claimed as your own\n`)
  if (!report.new) io.err('hstore: the turn was in the store already: it is in the file now\n')
  if (!isJson) io.err(`hstore: turn ${bounded(number)} of ${bounded(agent)} to ${bounded(to)}\n`)
}

async function draftOf(io: Io, agent: string, options: Options): Promise<TurnDraft> {
  const to = textOf(options, 'to')
  if (to === undefined) throw new UsageError('--to AGENT says whom the turn is for')
  const body = textOf(options, 'body')
  const flags = flagFields.flatMap((key) => {
    const value = textOf(
      options,
      key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    )
    return value === undefined ? [] : [[key, value]]
  })
  return {
    agent,
    to,
    ask: textOf(options, 'ask') ?? '',
    done: textOf(options, 'done') ?? '',
    files: textOf(options, 'files') ?? '',
    at: `${new Date().toISOString().slice(0, 19)}Z`,
    ...given('model', io.env['M8SHIFT_AGENT_MODEL']),
    ...given('effort', io.env['M8SHIFT_AGENT_EFFORT']),
    flags: Object.fromEntries(flags) as TurnDraft['flags'] & object,
    fields: (options['field'] as readonly string[] | undefined) ?? [],
    ...given('body', body === undefined ? undefined : await readBody(io, body)),
    allowLargeBody: options['allowLargeBody'] === true,
  }
}

function given<K extends string>(
  key: K,
  value: string | undefined,
): { readonly [P in K]?: string } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: string })
}

async function readBody(io: Io, file: string): Promise<string> {
  const bytes = await readInput(io, file)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new HandoffError('HSTORE_TURN_REFUSED', 'the body is no UTF-8', { cause })
  }
}

function textOf(options: Options, name: string): string | undefined {
  return options[name] as string | undefined
}
