import { isDeepStrictEqual } from 'node:util'
import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import type { RelayNote } from '../contracts/turns/relay-body.ts'
import { relayForm } from '../contracts/turns/relay-body.ts'
import { HandoffError } from '../errors.ts'
import { quoted } from '../kernel/shown.ts'
import type { RelayFiles } from './files.ts'
import type { ChainedTurn } from './line.ts'
import type { FileReport } from './plan-import.ts'
import { planImport } from './plan-import.ts'
import type { RelayState, StatedNote } from './state.ts'
import { assertJoined, assertSound, readState } from './state.ts'
import type { Author, WrittenRelay } from './write.ts'
import { writeRelay } from './write.ts'

/** A turn that its own agent states from now on, where a witness did. */
export interface ClaimedTurn {
  /** The entry that was made. */
  readonly cid: CidText
  readonly number: string
  readonly agent: string
}

/** What an import made of a relay's files. */
export interface ImportReport extends FileReport {
  /** The entry of the note on the files. */
  readonly cid: CidText
  /** The entry of the last turn; null where there is none. */
  readonly head: CidText | null
  /** How many of the new turns are by agents that the author can't speak for. */
  readonly witnessed: number
  /** How many old ones are the author's own from now on. */
  readonly claimed: number
  /** Those. */
  readonly claims: readonly ClaimedTurn[]
  /** False when the store knew all of it. */
  readonly new: boolean
}

/** Which turns no file has had when an import is through: none, the last of the relay, or what none had, and the last. */
export type Ahead = 'last' | 'none' | 'unseen'

/** An import, and the note that says what the files are. */
export interface Imported {
  readonly report: ImportReport
  readonly note: RelayNote
}

/**
 * Takes a relay and its archive into the graph: each closed turn that is new becomes an entry behind the one before, and
 * a note keeps the rest, so that `exportRelay` gives the files back. Turns of the author that a witness entered become its
 * own. All or nothing; the same files again add nothing.
 *
 * @param relay - What the relay is called in the store.
 * @param parents - The heads that the next turn is to join, where the relay has several.
 * @throws {HandoffError} `HSTORE_RELAY_CHANGED` when a closed turn is not what it was at the import before;
 * `HSTORE_RELAY_BEHIND` when turns are missing that no file has had; `HSTORE_USAGE` when the archive of that import is not
 * given; what `readState`, `assertJoined` and `writeRelay` throw.
 */
export async function importRelay(
  context: Context,
  relay: string,
  files: RelayFiles,
  author: Author,
  parents?: readonly string[],
): Promise<ImportReport> {
  const state = await readState(context, relay)
  assertSound(state.chain)
  assertJoined(relay, state, parents)
  return (await importOver(context, relay, files, state, author)).report
}

/**
 * Does what `importRelay` does over a state that was read.
 *
 * @param ahead - The turns that no file has had by now.
 */
export async function importOver(
  context: Context,
  relay: string,
  files: RelayFiles,
  state: RelayState,
  author: Author,
  ahead: Ahead = 'none',
): Promise<Imported> {
  const plan = planImport(relay, files, state)
  const { added, report } = plan
  if (state.isForked && added.length === 0) throw nothingJoins(relay, state)
  const { stream, chain, heads, note: known } = state
  const claimed = chain.filter((one) => isClaimable(context, author, one))
  const note = {
    ...plan.note,
    ahead: countAhead(plan.order, state, ahead),
    head: headOf(chain.at(-1), known),
  }
  const kept = added.length === 0 ? findSame(state, note, ahead) : undefined
  if (kept !== undefined && claimed.length === 0) {
    return { report: nothingNew(report, kept.cid, chain.at(-1)), note: kept }
  }
  const change = {
    stream,
    claims: claimed.map(({ entry }) => entry),
    after: heads,
    turns: added,
    note: kept === undefined ? note : undefined,
    whereLoose: plan.whereLoose,
  }
  const made = await writeRelay(context, change, author)
  const stated = kept ?? { ...note, head: made.turns.at(-1)?.cid ?? note.head }
  return { report: reportOn(report, made, known, claimed, chain.at(-1)), note: stated }
}

/**
 * Returns the latest note where it says the same. What another store saw in a file this one has not seen until a note of
 * its own says so.
 */
function findSame(
  { note: known, unseen }: RelayState,
  note: RelayNote,
  ahead: Ahead,
): StatedNote | undefined {
  const isSeen = ahead !== 'none' || unseen.size === 0
  return isSeen && known !== undefined && isSameNote(known, note) ? known : undefined
}

/** A note counts them from the end of the relay. */
function countAhead(order: readonly number[], { unseen }: RelayState, ahead: Ahead): number {
  if (ahead !== 'unseen') return ahead === 'last' ? 1 : 0
  const first = order.findIndex((place) => unseen.has(place))
  return first < 0 ? 1 : order.length - first
}

function reportOn(
  report: FileReport,
  made: WrittenRelay,
  known: StatedNote | undefined,
  claimed: readonly ChainedTurn[],
  last: ChainedTurn | undefined,
): ImportReport {
  return {
    ...report,
    cid: (made.note ?? known)!.cid,
    head: madeHead(made, claimed, last),
    witnessed: made.turns.filter(({ witness }) => witness).length,
    ...told(made, claimed),
    new: true,
  }
}

function told(
  { claims }: WrittenRelay,
  claimed: readonly ChainedTurn[],
): Pick<ImportReport, 'claimed' | 'claims'> {
  const turns = claims.map(({ cid }, i) => {
    const { number, agent } = claimed[i]!.turn
    return { cid, number, agent }
  })
  return { claimed: turns.length, claims: turns }
}

function nothingNew(report: FileReport, cid: CidText, last: ChainedTurn | undefined): ImportReport {
  const head = last?.entry.cid ?? null
  return { ...report, cid, head, witnessed: 0, claimed: 0, claims: [], new: false }
}

/** A claim of the last turn is a new entry of the head. */
function madeHead(
  { claims, turns }: WrittenRelay,
  claimed: readonly ChainedTurn[],
  last: ChainedTurn | undefined,
): CidText | null {
  const claim = claimed.at(-1) === last ? claims.at(-1) : undefined
  return (turns.at(-1) ?? claim ?? last?.entry)?.cid ?? null
}

function isClaimable({ trust }: Context, { agent }: Author, { entry, turn }: ChainedTurn): boolean {
  return entry.witness && trust.isNameOf(agent, turn.agent)
}

/** A note of before may name another entry of the same turn. */
function headOf(last: ChainedTurn | undefined, known: StatedNote | undefined): CidText | undefined {
  const head = known?.head
  return head !== undefined && last?.stated.has(head) === true ? head : last?.entry.cid
}

function isSameNote(a: RelayNote, b: RelayNote): boolean {
  // not as text: what is too large for a block is told where it would be written
  const form = (note: RelayNote): unknown => relayForm({ ...note, version: 1 })
  return isDeepStrictEqual(form(a), form(b))
}

function nothingJoins(relay: string, { heads }: RelayState): HandoffError {
  return new HandoffError(
    'HSTORE_HEADS_MOVED',
    `the files have the turns of all ${heads.length} heads of ${quoted(relay)}, and no new one follows: hstore turn append with the same --parent writes one`,
    { details: { heads } },
  )
}
