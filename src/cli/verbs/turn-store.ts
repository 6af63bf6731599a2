import path from 'node:path'
import { writeNewFile } from '../../durable-file.ts'
import { HandoffError } from '../../errors.ts'
import type { ImportReport } from '../../relay/import.ts'
import type { LoggedTurn } from '../../relay/log.ts'
import { exits } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { GlobalOptions, Verb } from '../program.ts'
import { findingLine, jsonLine, plain } from '../render.ts'
import { countOf, openNamed } from '../settings.ts'
import { readRelayFiles, relayOf } from '../relay-files.ts'

type Options = GlobalOptions & Readonly<Record<string, unknown>>

/** `hstore turn import`: takes a relay and its archive into the graph. */
export const turnImport: Verb = async (io, [file = ''], options) => {
  const relay = relayOf(options)
  const files = await readRelayFiles(io, file, options['archive'] as string | undefined)
  await using store = await openNamed(io, options)
  const report = await store.turns.import(relay, files).catch((error: unknown) => {
    tellDiff(io, options, error)
    throw error
  })
  for (const warning of report.warnings) io.err(`hstore: warning: ${plain(warning)}\n`)
  if (options.json === true) await io.out(jsonLine('turn-import', report))
  else {
    await io.out(`${report.cid}\n`)
    for (const finding of report.findings) io.err(`hstore: ${findingLine(finding)}\n`)
    io.err(`hstore: ${summary(report)}\n`)
  }
  return exits.ok
}

/** `hstore turn export`: gives a relay's files back, byte for byte. */
export const turnExport: Verb = async (io, _, options) => {
  const relay = relayOf(options)
  const out = options['out'] as string | undefined
  const archiveOut = options['archive'] as string | undefined
  if (out === undefined && options.json === true) {
    throw new UsageError('--json needs --out: the relay itself goes to stdout')
  }
  await using store = await openNamed(io, options)
  const { cid, living, archive } = await store.turns.export(relay)
  if (archiveOut !== undefined && archive === undefined) {
    throw new HandoffError('HSTORE_REF_NOT_FOUND', 'the relay has no archive: leave --archive out')
  }
  if (archiveOut !== undefined && archive !== undefined) {
    await writeNewFile(path.resolve(io.cwd, archiveOut), archive)
  }
  if (out === undefined) await io.out(living)
  else {
    await writeNewFile(path.resolve(io.cwd, out), living)
    if (options.json === true) {
      await io.out(jsonLine('turn-export', { relay, cid, out, archive: archiveOut ?? null }))
    }
  }
  if (archive !== undefined && archiveOut === undefined) {
    io.err('hstore: the relay has an archive too: --archive FILE writes it\n')
  }
  return exits.ok
}

/** `hstore turn log`: the turns of a relay, the last first. */
export const turnLog: Verb = async (io, _, options) => {
  const relay = relayOf(options)
  const most = countOf(options['n'])
  await using store = await openNamed(io, options)
  const turns = (await store.turns.log(relay)).slice(0, most)
  if (options.json === true) await io.out(jsonLine('turn-log', { relay, turns }))
  else await io.out(turns.map((turn) => `${turnLine(turn)}\n`).join(''))
  return exits.ok
}

function turnLine({ cid, number, agent, to, ask, witness, problem }: LoggedTurn): string {
  const standing = problem === undefined ? '' : ` (not valid: ${problem})`
  const asked = ask === '' || ask === '—' ? '' : `: ${ask}`
  return plain(
    `${cid} ${number} ${agent} -> ${to}${witness ? ' (witness)' : ''}${standing}${asked}`,
  )
}

/** With `--json` the diff stands in the error. */
function tellDiff(io: Io, options: Options, error: unknown): void {
  if (!(error instanceof HandoffError) || error.code !== 'HSTORE_RELAY_CHANGED') return
  if (options.json === true) return
  for (const line of error.details['diff'] as readonly string[]) io.err(`${plain(line)}\n`)
}

function summary(report: ImportReport): string {
  const { relay, turns, added, witnessed, archived, folded } = report
  const name = plain(relay)
  if (!report.new) return `${name} was there already: ${turns} turns, nothing new`
  const parts = [
    `${added} new of ${turns} turns`,
    ...(witnessed > 0 ? [`${witnessed} by agents that only their bytes are vouched for`] : []),
    ...(archived > 0 ? [`${archived} moved to the archive`] : []),
    ...(folded > 0 ? [`${folded} with blank lines folded, as M8Shift's archive leaves them`] : []),
  ]
  return `${name}: ${parts.join(', ')}`
}
