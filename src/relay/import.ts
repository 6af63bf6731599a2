import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import type { Breach, Placement } from '../contracts/turns/align.ts'
import { alignTurns } from '../contracts/turns/align.ts'
import { getLock } from '../contracts/turns/lock.ts'
import type { Relay } from '../contracts/turns/markdown.ts'
import { readRelay } from '../contracts/turns/markdown.ts'
import { findOddities } from '../contracts/turns/oddities.ts'
import type { RelayNote } from '../contracts/turns/relay-body.ts'
import { relayForm, runsOf } from '../contracts/turns/relay-body.ts'
import { partsOfRelay } from '../contracts/turns/relay-parts.ts'
import type { Turn } from '../contracts/turns/turn.ts'
import { diffTurns } from '../contracts/turns/turn-diff.ts'
import type { RelayFile } from '../contracts/turns/validate.ts'
import { encodeFormText } from '../../store/canonical.ts'
import { HandoffError } from '../errors.ts'
import { bounded, quoted } from '../kernel/shown.ts'
import type { Finding } from '../rules/rule.ts'
import type { ChainedTurn, RelayState } from './state.ts'
import { assertSound, readState } from './state.ts'
import type { Author } from './write.ts'
import { writeRelay } from './write.ts'

/** A relay's files, as they are now. */
export interface RelayFiles {
  readonly living: RelayFile
  readonly archive?: RelayFile | undefined
}

/** What an import made of a relay's files. */
export interface ImportReport {
  readonly relay: string
  readonly stream: string
  /** The entry of the note on the files. */
  readonly cid: CidText
  /** The entry of the last turn; null where there is none. */
  readonly head: CidText | null
  /** How many turns the relay has. */
  readonly turns: number
  /** How many of them are new. */
  readonly added: number
  /** How many of the new ones are by agents that the author can't speak for. */
  readonly witnessed: number
  /** How many went to the archive since the import before. */
  readonly archived: number
  /** How many old ones have other blank lines than in the store, as M8Shift's `archive` leaves them. */
  readonly folded: number
  /** False when the store knew all of it. */
  readonly new: boolean
  /** What M8Shift passes over in silence. */
  readonly findings: readonly Finding[]
  readonly warnings: readonly string[]
}

/**
 * Takes a relay and its archive into the graph: each closed turn that is new becomes an entry behind the one before, and
 * a note keeps the rest, so that `exportRelay` gives the files back. All or nothing; the same files again add nothing.
 *
 * @param relay - What the relay is called in the store.
 * @throws {HandoffError} `HSTORE_RELAY_CHANGED` when a closed turn is not what it was at the import before;
 * `HSTORE_USAGE` when the archive of that import is not given; what `readState` and `writeRelay` throw.
 */
export async function importRelay(
  context: Context,
  relay: string,
  files: RelayFiles,
  author: Author,
): Promise<ImportReport> {
  const state = await readState(context, relay)
  assertSound(state.chain)
  const { added, note, report } = planImport(relay, files, state)
  const { stream, chain, note: known } = state
  const after = chain.at(-1)?.entry.cid
  if (known !== undefined && added.length === 0 && isSameNote(known, { ...note, head: after })) {
    return { ...report, cid: known.cid, head: after ?? null, witnessed: 0, new: false }
  }
  const made = await writeRelay(context, { stream, after, turns: added, note }, author)
  const head = made.turns.at(-1)?.cid ?? after ?? null
  const witnessed = made.turns.filter(({ witness }) => witness).length
  return { ...report, cid: made.note.cid, head, witnessed, new: true }
}

/** What an import is to write, worked out without a write. */
interface ImportPlan {
  readonly added: readonly Turn[]
  readonly note: Omit<RelayNote, 'head'>
  readonly report: Omit<ImportReport, 'cid' | 'head' | 'new' | 'witnessed'>
}

/** Returns what an import is to write; throws what `importRelay` throws for files that it does not take in. */
export function planImport(relay: string, files: RelayFiles, state: RelayState): ImportPlan {
  const living = readRelay(files.living.bytes)
  const archive = files.archive && readRelay(files.archive.bytes)
  const now = { living: turnsOf(living), archive: archive === undefined ? [] : turnsOf(archive) }
  const before = placementOf(state)
  if (archive === undefined && before.archive.length > 0) throw archiveNeeded(relay)
  const aligned = alignTurns(before, now)
  if ('what' in aligned) {
    refuseBadBytes(files)
    throw changed(relay, files, state, aligned)
  }
  const { added, archived, folded } = aligned
  const chain = [...before.chain, ...added]
  const textOf = (place: number): string => chain[place]!.text
  const note = {
    living: partsOfRelay(living, aligned.living, textOf),
    archive: archive && partsOfRelay(archive, aligned.archive, textOf),
    turns: chain.length,
    version: 1 + (state.note?.version ?? 0),
  }
  const { roster, warnings } = readLock(living, files.living.name)
  const findings = findOddities(
    { relay: living, path: 'M8SHIFT.md' },
    archive && { relay: archive, path: 'M8SHIFT.archive.md' },
    roster,
  )
  const counts = { turns: chain.length, added: added.length, archived, folded }
  return {
    added,
    note,
    report: { relay, stream: state.stream, ...counts, findings, warnings },
  }
}

/** A file with a byte that is no UTF-8 has no turns for M8Shift: those of before were not removed. */
function refuseBadBytes({ living, archive }: RelayFiles): void {
  for (const { name, bytes } of archive === undefined ? [living] : [living, archive]) {
    const { badByte } = readRelay(bytes)
    if (badByte === undefined) continue
    throw new HandoffError(
      'HSTORE_RELAY_INVALID',
      `HS4301: ${name} line ${badByte.line}: byte ${badByte.offset} of the file is no UTF-8: nothing was imported`,
    )
  }
}

function turnsOf({ turns }: Relay): readonly Turn[] {
  return turns.map(({ turn }) => turn)
}

/** Turns that no note has placed, by whoever wrote them, come last in the relay. */
function placementOf({ chain, note }: RelayState): Placement {
  const placed = note?.turns ?? 0
  const places = (parts: RelayNote['living']): number[] =>
    runsOf(parts).flatMap(({ first, count }) => Array.from({ length: count }, (_, i) => first + i))
  return {
    chain: chain.map(({ turn }) => turn),
    archive: places(note?.archive ?? []),
    living: [...places(note?.living ?? []), ...chain.slice(placed).map((_, i) => placed + i)],
  }
}

function isSameNote(a: RelayNote, b: RelayNote): boolean {
  const text = (note: RelayNote): string => encodeFormText(relayForm({ ...note, version: 1 }))
  return text(a) === text(b)
}

/** M8Shift reads nothing of a relay whose LOCK block is wrong; its turns are there all the same. */
function readLock(
  relay: Relay,
  name: string,
): { readonly roster: readonly string[] | undefined; readonly warnings: readonly string[] } {
  if (relay.badByte !== undefined) return { roster: undefined, warnings: [] }
  try {
    return { roster: getLock(relay, name).roster, warnings: [] }
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error
    return { roster: undefined, warnings: [`M8Shift refuses the relay: ${error.message}`] }
  }
}

function archiveNeeded(relay: string): HandoffError {
  return new HandoffError(
    'HSTORE_USAGE',
    `the relay ${quoted(relay)} was imported with an archive: give it with --archive`,
  )
}

function changed(
  relay: string,
  files: RelayFiles,
  { chain }: RelayState,
  { what, file, place, now }: Breach,
): HandoffError {
  const old = place === undefined ? undefined : chain[place]
  const { number, agent } = old?.turn ?? now!
  const path = files[file]?.name ?? 'M8SHIFT.archive.md'
  const cid = old?.entry.cid
  const where = cid === undefined ? '' : ` (${cid})`
  const advice = adviceOn(what, place === chain.length - 1 ? old : undefined)
  const message = `${bounded(path)}: turn ${bounded(number)} of ${bounded(agent)}${where} was ${what} since the import before: nothing was imported; ${advice}`
  const diff = diffTurns(old?.turn.text, now?.text)
  return new HandoffError('HSTORE_RELAY_CHANGED', message, {
    details: { relay, change: what, path, number, agent, ...(cid && { cid }), diff },
  })
}

/** What `hstore turn append` leaves when it is killed before it writes the file looks like a last turn that was removed. */
function adviceOn(what: Breach['what'], last: ChainedTurn | undefined): string {
  return what === 'removed' && last?.entry.witness === false
    ? 'if an hstore turn append was cut short, give the same command again'
    : 'hstore turn export --relay gives back what was'
}
