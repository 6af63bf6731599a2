import type {
  BlamedChange,
  BlamedEntry,
  BlamedRecord,
  BlameReport,
} from '../../attribution/blame.ts'
import type { Io } from '../io.ts'
import type { Paint } from '../paint.ts'
import { paintOf } from '../paint.ts'
import { print } from '../print.ts'
import type { Verb } from '../program.ts'
import { findingLine, jsonLine, plain } from '../render.ts'
import { openNamed, warnOfStanding } from '../settings.ts'

/** `hstore blame`: whose word each record of an envelope is. Exits with 1 where one is stale or forged. */
export const blame: Verb = async (io, [ref = ''], options) => {
  const found = await read(io, ref, options)
  if (options.json === true) await io.out(jsonLine('blame', found))
  else await print(io, textOf(found, paintOf(io)))
  const damage = found.findings.filter(({ code }) => !code.startsWith('HS21'))
  for (const one of damage) io.err(`hstore: ${findingLine(one)}\n`)
  return found.exit
}

/** The store is closed by the time that a person reads. */
async function read(io: Io, ref: string, options: Parameters<Verb>[2]): Promise<BlameReport> {
  await using store = await openNamed(io, options)
  io.readsHistory?.()
  await warnOfStanding(io, store, ref)
  const found = await store.blame(ref)
  return found
}

function textOf({ records }: BlameReport, paint: Paint): string {
  return records.map((record) => `${linesOf(record, paint).join('\n')}\n`).join('')
}

function linesOf(record: BlamedRecord, paint: Paint): string[] {
  const { kind, id, verdict, createdBy, changes, first } = record
  const style = verdict === 'proven' ? 'heading' : 'warning'
  const heading = `${paint(style, verdict)} ${plain(`${kind} ${id} of ${createdBy}`)}`
  const isTold = changes.some(({ cid }) => cid === first.cid)
  const stated = isTold ? [] : [`${entryText(first, paint)}: first there`]
  return [heading, ...stated, ...changes.map((change) => changeText(change, paint))].map(
    (line, i) => (i === 0 ? line : `  ${line}`),
  )
}

function changeText(change: BlamedChange, paint: Paint): string {
  const { status, sets, verdict } = change
  const what = status === null ? 'left out' : status
  const words = sets.includes('origin') || status === null ? what : `-> ${what}`
  const mark = verdict === 'proven' ? '' : paint('warning', ` (${verdict})`)
  return `${entryText(change, paint)}: ${plain(words)}${mark}`
}

function entryText({ cid, revision, author }: BlamedEntry, paint: Paint): string {
  return `${paint('cid', cid)} ${plain(`${revision} by ${author}`)}`
}
