import path from 'node:path'
import { removeLeftovers } from '../../leftover-files.ts'
import { bounded } from '../../kernel/shown.ts'
import type { ImportReport } from '../../relay/import.ts'
import type { LoggedTurn } from '../../relay/log.ts'
import { exits } from '../exit-codes.ts'
import type { Verb } from '../program.ts'
import { findingLine, jsonLine, plain } from '../render.ts'
import { countOf, openNamed } from '../settings.ts'
import { relayOf, relayReader } from '../relay-files.ts'
import { tellDiff } from '../relay-diff.ts'

/** `hstore turn import`: takes a relay and its archive into the graph. */
export const turnImport: Verb = async (io, [file = ''], options) => {
  const relay = relayOf(options)
  const files = await relayReader(io, file, options['archive'] as string | undefined)
  if (file !== '-') await removeLeftovers(path.resolve(io.cwd, file))
  await using store = await openNamed(io, options)
  const parents = options['parent'] as readonly string[] | undefined
  const report = await store.turns.import(relay, files, parents).catch((error: unknown) => {
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
    `${cid} ${bounded(number)} ${bounded(agent)} -> ${bounded(to)}${witness ? ' (witness)' : ''}${standing}${asked}`,
  )
}

function summary(report: ImportReport): string {
  const { relay, turns, added, witnessed, archived, folded, respaced } = report
  const name = plain(relay)
  if (!report.new) return `${name} was there already: ${turns} turns, nothing new`
  const parts = [
    `${added} new of ${turns} turns`,
    ...(witnessed > 0 ? [`${witnessed} by agents that only their bytes are vouched for`] : []),
    ...claimedPart(report),
    ...(archived > 0 ? [`${archived} moved to the archive`] : []),
    ...(folded > 0 ? [`${folded} with blank lines folded, as M8Shift's archive leaves them`] : []),
    ...(respaced > 0 ? [`${respaced} with other blank lines, which M8Shift does not make`] : []),
  ]
  return `${name}: ${parts.join(', ')}`
}

const shownClaims = 20

function claimedPart({ claimed, claims }: ImportReport): string[] {
  if (claimed === 0) return []
  const numbers = claims.slice(0, shownClaims).map(({ number }) => bounded(number))
  const more = claimed > shownClaims ? ` and ${claimed - shownClaims} more` : ''
  return [`${claimed} claimed as your own (turn ${numbers.join(', ')}${more})`]
}
