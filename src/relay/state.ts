import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { tipPrefix } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { RelayNote } from '../contracts/turns/relay-body.ts'
import { findRelayNote, runsOf } from '../contracts/turns/relay-body.ts'
import { isStream } from '../entry/text.ts'
import { HandoffError } from '../errors.ts'
import { headsOf } from '../graph/ref.ts'
import { bounded, quoted } from '../kernel/shown.ts'
import type { ChainedTurn, Line } from './line.ts'
import { broken, readLine } from './line.ts'

/** What a relay's files were, and the entry that says so. */
export interface StatedNote extends RelayNote {
  readonly cid: CidText
}

/** How a relay stands in the store. */
export interface RelayState extends Pick<Line, 'isForked'> {
  readonly stream: string
  /** What the next turn follows. */
  readonly heads: readonly CidText[]
  /** First turn first. */
  readonly chain: readonly ChainedTurn[]
  /** The latest; undefined for a relay that the store does not know. */
  readonly note: StatedNote | undefined
  /** Where in the chain the turns are that the note counts, in its order. */
  readonly places: readonly number[]
  /** The latest note that this store made: the last that it saw of the files. */
  readonly seen: PlacedNote | undefined
  /** The places of the turns that this store has seen in no file. */
  readonly unseen: ReadonlySet<number>
  /** Those of them whose entries it made. */
  readonly made: ReadonlySet<number>
}

/** A note, and where in the chain the turns are that it counts, in its order. */
export interface PlacedNote {
  readonly note: StatedNote
  readonly places: readonly number[]
}

/** Returns the stream of a relay; throws `HSTORE_USAGE` for a name that can't name one. */
export function streamOf(relay: string): string {
  const stream = `m8:${relay}`
  if (isStream(stream)) return stream
  const why = 'a relay has a name of 1 to 1024 bytes without control characters'
  throw new HandoffError('HSTORE_USAGE', `${quoted(relay)}: ${why}`)
}

/**
 * Returns how a relay stands: its turns down from its heads, and the latest note.
 *
 * @throws {HandoffError} `HSTORE_HEADS_MOVED` when its note is on other turns; `HSTORE_ENTRY_INVALID` for an entry that is no turn.
 */
export async function readState(context: Context, relay: string): Promise<RelayState> {
  const stream = streamOf(relay)
  const heads = (await headsOf(context, stream)).map(({ cid }) => cid)
  const note = await findNote(context, stream)
  const line = await readLine(context, heads)
  const places = await placesOf(context, note, line)
  const { turns: chain, isForked } = line
  const seen = note && (await placedSeen(context, stream, line, { note, places }))
  const known = seen === undefined ? new Set<number>() : inFiles(seen)
  const unseen = new Set([...chain.keys()].filter((place) => !known.has(place)))
  const made = new Set([...unseen].filter((at) => context.marks.isMade(chain[at]!.entry.cid)))
  return { stream, heads, chain, isForked, note, places, seen, unseen, made }
}

async function placedSeen(
  context: Context,
  stream: string,
  line: Line,
  last: PlacedNote,
): Promise<PlacedNote | undefined> {
  if (context.marks.isMade(last.note.cid)) return last
  const note = await findNote(context, stream, (cid) => context.marks.isMade(cid))
  return note && { note, places: await placesOf(context, note, line) }
}

/** The last of a note may have been in the store alone. */
function inFiles({ note, places }: PlacedNote): ReadonlySet<number> {
  const order = [...runsOf(note.archive ?? []), ...runsOf(note.living)].flatMap(
    ({ first, count }) => places.slice(first, first + count),
  )
  return new Set(order.slice(0, order.length - note.ahead))
}

async function placesOf(
  context: Context,
  note: StatedNote | undefined,
  { turns: chain, isForked }: Line,
): Promise<readonly number[]> {
  if (note?.head === undefined) return []
  const isStraight =
    !isForked && chain.every(({ entry }, i) => entry.parents.length === Math.min(i, 1))
  const noted = isStraight
    ? chain.slice(0, note.turns)
    : (await readLine(context, [note.head])).turns
  const known = new Map(chain.flatMap(({ stated }, i) => [...stated].map((cid) => [cid, i])))
  const places = noted.map(({ entry }) => known.get(entry.cid) ?? -1)
  const isOnThem = noted.length === note.turns && noted.at(-1)?.stated.has(note.head) === true
  if (isOnThem && !places.includes(-1)) return places
  throw new HandoffError(
    'HSTORE_HEADS_MOVED',
    `the note ${note.cid} is on other turns than those of the relay's head: the relay is not read further`,
    { details: { cid: note.cid } },
  )
}

/**
 * Throws where the turns of a relay part, unless the call names the heads that the next turn is to join: nobody's file
 * decides alone that two turns follow each other.
 *
 * @param parents - Heads, by their entries; each once.
 * @throws {HandoffError} `HSTORE_HEADS_MOVED` where it is forked; `HSTORE_PARENT_UNKNOWN` for one that is no head.
 */
export function assertJoined(
  relay: string,
  { heads, isForked }: Pick<RelayState, 'heads' | 'isForked'>,
  parents: readonly string[] | undefined,
): void {
  const stranger = parents?.find((cid) => !heads.includes(cid as CidText))
  if (stranger !== undefined) {
    const message = `${quoted(stranger)} is no head of the relay ${quoted(relay)}: hstore heads lists them`
    throw new HandoffError('HSTORE_PARENT_UNKNOWN', message, { details: { parent: stranger } })
  }
  if (!isForked || heads.every((cid) => parents?.includes(cid))) return
  const named = heads.join(' ')
  throw new HandoffError(
    'HSTORE_HEADS_MOVED',
    `the relay ${quoted(relay)} has ${heads.length} heads: nothing is added until a turn follows all of them; --parent ${named} makes the next one do so`,
    { details: { heads } },
  )
}

/** Returns the latest valid note of a stream, of all or of those that are wanted. */
export async function findNote(
  context: Context,
  stream: string,
  isWanted: (cid: CidText) => boolean = () => true,
): Promise<StatedNote | undefined> {
  const notes: StatedNote[] = []
  await context.db.settled()
  for await (const { values } of context.db.rows('tips', tipPrefix(stream))) {
    for (const cid of values) {
      const found = await noteBehind(context, stream, cid as CidText, isWanted)
      if (found !== undefined) notes.push(found)
    }
  }
  return notes.sort((a, b) => b.version - a.version || (a.cid < b.cid ? -1 : 1))[0]
}

/** A signer's own chain leads to its last note. */
async function noteBehind(
  context: Context,
  stream: string,
  tip: CidText,
  isWanted: (cid: CidText) => boolean,
): Promise<StatedNote | undefined> {
  const seen = new Set([tip])
  for (const cid of seen) {
    const entry = await getEntry(context, cid)
    const isNote = entry.kind === 'relay' && entry.stream === stream && isWanted(cid)
    if (isNote && context.trust.standingOf(entry).standing === 'valid') {
      const note = findRelayNote(decodeForm(await context.db.get(entry.body)).form)
      if (note === undefined) throw broken(cid, 'its body is no relay note')
      if (note.head !== entry.refs[0]) throw broken(cid, 'its body names another head')
      return { ...note, cid }
    }
    for (const before of entry.prev) seen.add(before)
  }
  return undefined
}

/**
 * Throws where a turn is not what it says it is: nothing is built on it, and no file held against it.
 *
 * @throws {HandoffError} `HSTORE_ENTRY_UNTRUSTED`.
 */
export function assertSound(chain: RelayState['chain']): void {
  for (const { entry, turn, fault } of chain) {
    if (fault === undefined) continue
    const what = `${entry.cid} states turn ${bounded(turn.number)} of ${bounded(turn.agent)}`
    throw new HandoffError(
      'HSTORE_ENTRY_UNTRUSTED',
      `${what}, and ${fault}: hstore verify says more; the relay can be taken in under a new name`,
      { details: { cid: entry.cid } },
    )
  }
}
