import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { tipPrefix } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { RelayNote } from '../contracts/turns/relay-body.ts'
import { findRelayNote } from '../contracts/turns/relay-body.ts'
import { findTurn } from '../contracts/turns/turn-body.ts'
import type { Turn } from '../contracts/turns/turn.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { isStream } from '../entry/text.ts'
import { HandoffError } from '../errors.ts'
import { headsOf } from '../graph/ref.ts'
import { bounded, quoted } from '../kernel/shown.ts'

/** A turn in the graph. */
export interface ChainedTurn {
  readonly entry: VerifiedEntry
  readonly turn: Turn
  /** Why the entry may not say this; undefined where it may. */
  readonly fault: string | undefined
}

/** What a relay's files were, and the entry that says so. */
export interface StatedNote extends RelayNote {
  readonly cid: CidText
}

/** How a relay stands in the store. */
export interface RelayState {
  readonly stream: string
  /** First turn first. */
  readonly chain: readonly ChainedTurn[]
  /** The latest; undefined for a relay that the store does not know. */
  readonly note: StatedNote | undefined
}

const atOnce = 256

/** Returns the stream of a relay; throws `HSTORE_USAGE` for a name that can't name one. */
export function streamOf(relay: string): string {
  const stream = `m8:${relay}`
  if (isStream(stream)) return stream
  const why = 'a relay has a name of 1 to 1024 bytes without control characters'
  throw new HandoffError('HSTORE_USAGE', `${quoted(relay)}: ${why}`)
}

/**
 * Returns how a relay stands: its turns down from the one head, and the latest note.
 *
 * @throws {HandoffError} `HSTORE_HEADS_MOVED` when the relay has several heads, or its note is on other turns; `HSTORE_ENTRY_INVALID` where its turns
 * form no chain.
 */
export async function readState(context: Context, relay: string): Promise<RelayState> {
  const stream = streamOf(relay)
  const heads = await headsOf(context, stream)
  const [head] = heads
  if (heads.length > 1) {
    const cids = heads.map(({ cid }) => cid)
    throw new HandoffError(
      'HSTORE_HEADS_MOVED',
      `the relay ${quoted(relay)} has ${heads.length} heads (${cids.join(', ')}): nothing is added until one follows the others`,
      { details: { heads: cids } },
    )
  }
  const note = await findNote(context, stream)
  const chain = await readChain(context, head?.cid)
  assertPlaces(note, chain)
  return { stream, chain, note }
}

function assertPlaces(note: StatedNote | undefined, chain: RelayState['chain']): void {
  if (note === undefined || chain[note.turns - 1]?.entry.cid === note.head) return
  throw new HandoffError(
    'HSTORE_HEADS_MOVED',
    `the note ${note.cid} is on other turns than those of the relay's head: the relay is not read further`,
    { details: { cid: note.cid } },
  )
}

/** Returns the latest valid note of a stream. */
export async function findNote(context: Context, stream: string): Promise<StatedNote | undefined> {
  const notes: StatedNote[] = []
  await context.db.settled()
  for await (const { values } of context.db.rows('tips', tipPrefix(stream))) {
    for (const cid of values) {
      const found = await noteBehind(context, stream, cid as CidText)
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
): Promise<StatedNote | undefined> {
  const seen = new Set([tip])
  for (const cid of seen) {
    const entry = await getEntry(context, cid)
    const isNote = entry.kind === 'relay' && entry.stream === stream
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

/** Returns the turns down from a head, first turn first; throws `HSTORE_ENTRY_INVALID` where they form no chain. */
export async function readChain(
  context: Context,
  head: CidText | undefined,
): Promise<readonly ChainedTurn[]> {
  const entries: VerifiedEntry[] = []
  for (let cid = head; cid !== undefined; cid = entries.at(-1)?.parents[0]) {
    const entry = await getEntry(context, cid)
    if (entry.kind !== 'turn') throw broken(cid, 'it is no turn')
    if (entry.parents.length > 1) throw broken(cid, 'it follows two turns')
    entries.push(entry)
  }
  entries.reverse()
  const chain: ChainedTurn[] = []
  for (let at = 0; at < entries.length; at += atOnce) {
    const part = entries.slice(at, at + atOnce)
    const bodies = await Promise.all(part.map(({ body }) => context.db.get(body)))
    for (const [i, entry] of part.entries()) {
      const turn = findTurn(decodeForm(bodies[i]!).form)
      if (turn === undefined) throw broken(entry.cid, 'its body is no turn')
      chain.push({ entry, turn, fault: faultOf(context, entry, turn) })
    }
  }
  return chain
}

/** Whoever signs for an agent has to be it, or to vouch for the bytes alone. */
function faultOf({ trust }: Context, entry: VerifiedEntry, turn: Turn): string | undefined {
  const { standing, why } = trust.standingOf(entry)
  if (standing !== 'valid') return why
  if (entry.witness || trust.isNameOf(entry.author, turn.agent)) return undefined
  return `${bounded(turn.agent)} is no name of its author ${bounded(entry.author)}`
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

function broken(cid: CidText, why: string): HandoffError {
  return new HandoffError('HSTORE_ENTRY_INVALID', `${cid} is no entry of a relay: ${why}`, {
    details: { cid },
  })
}
