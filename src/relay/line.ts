import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import { findTurn } from '../contracts/turns/turn-body.ts'
import type { Turn } from '../contracts/turns/turn.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { nodeKey } from '../entry/kinds.ts'
import { HandoffError } from '../errors.ts'
import { cidsIn } from '../graph/index-row.ts'
import { identifyTurns } from '../graph/turn-identity.ts'
import { HstoreError } from '../kernel/errors.ts'
import { bounded } from '../kernel/shown.ts'
import { orderBehind } from './line-order.ts'

/** A turn in the graph. */
export interface ChainedTurn {
  /** What says most of it: its agent's own entry, else a witness's. */
  readonly entry: VerifiedEntry
  /** Every valid entry that states it, and those that were read. */
  readonly stated: ReadonlySet<CidText>
  readonly turn: Turn
  /** The places, in the order of the line, of the turns that it follows. */
  readonly behind: readonly number[]
  /** Why no entry may say this; undefined where one may. */
  readonly fault: string | undefined
}

/** The turns behind one head or several, in one order. */
export interface Line {
  /** First turn first. */
  readonly turns: readonly ChainedTurn[]
  /** Whether they part somewhere, and no turn follows all of them. */
  readonly isForked: boolean
}

const atOnce = 256

/**
 * Returns the turns behind heads, each once whoever states it. Where turns part and are joined again, those of the
 * longer branch come first.
 *
 * @throws {HandoffError} `HSTORE_ENTRY_INVALID` for an entry that is no turn.
 */
export async function readLine(context: Context, heads: readonly CidText[]): Promise<Line> {
  const entries = await readEntries(context, heads)
  const numbers = identifyTurns(entries)
  const states = new Map<number, VerifiedEntry[]>()
  for (const [cid, entry] of entries) {
    const number = numbers.get(cid)!
    const known = states.get(number)
    if (known === undefined) states.set(number, [entry])
    else known.push(entry)
  }
  const steps = new Map(
    [...states].map(([number, [first]]) => [
      number,
      { body: first!.body, behind: [...new Set(first!.parents.map((cid) => numbers.get(cid)!))] },
    ]),
  )
  const ordered = orderBehind(
    heads.map((cid) => numbers.get(cid)!),
    steps,
  )
  const places = new Map(ordered.numbers.map((number, place) => [number, place]))
  const links = ordered.numbers.map((number) => ({
    entries: states.get(number)!,
    behind: steps.get(number)!.behind.map((other) => places.get(other)!),
  }))
  return { turns: await readTurns(context, links), isForked: ordered.isForked }
}

async function readEntries(
  context: Context,
  heads: readonly CidText[],
): Promise<ReadonlyMap<CidText, VerifiedEntry>> {
  const entries = new Map<CidText, VerifiedEntry>()
  const waiting = [...heads]
  for (let cid = waiting.pop(); cid !== undefined; cid = waiting.pop()) {
    if (entries.has(cid)) continue
    const entry = await getEntry(context, cid)
    if (entry.kind !== 'turn') throw broken(cid, 'it is no turn')
    entries.set(cid, entry)
    waiting.push(...entry.parents)
    for (const other of cidsIn(context, { index: 'bodies', body: entry.body })) {
      const found = entries.has(other) ? undefined : await findRestated(context, other, entry)
      if (found !== undefined) entries.set(other, found)
    }
  }
  return entries
}

/** What can't be read, or is not valid, says nothing of a turn; `verify` names it. */
async function findRestated(
  context: Context,
  cid: CidText,
  entry: VerifiedEntry,
): Promise<VerifiedEntry | undefined> {
  try {
    const other = await getEntry(context, cid)
    const isValid = context.trust.standingOf(other).standing === 'valid'
    return isValid && nodeKey(other) === nodeKey(entry) ? other : undefined
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}

interface Stated {
  readonly entries: readonly VerifiedEntry[]
  readonly behind: readonly number[]
}

async function readTurns(context: Context, links: readonly Stated[]): Promise<ChainedTurn[]> {
  const turns: ChainedTurn[] = []
  for (let at = 0; at < links.length; at += atOnce) {
    const part = links.slice(at, at + atOnce)
    const bodies = await Promise.all(part.map(({ entries }) => context.db.get(entries[0]!.body)))
    for (const [i, { entries, behind }] of part.entries()) {
      const turn = findTurn(decodeForm(bodies[i]!).form)
      if (turn === undefined) throw broken(entries[0]!.cid, 'its body is no turn')
      turns.push({ ...stateOf(context, entries, turn), turn, behind })
    }
  }
  return turns
}

function stateOf(
  context: Context,
  entries: readonly VerifiedEntry[],
  turn: Turn,
): Pick<ChainedTurn, 'entry' | 'fault' | 'stated'> {
  const judged = entries.map((entry) => ({ entry, fault: faultOf(context, entry, turn) }))
  const [best] = judged.sort(
    (a, b) =>
      Number(a.fault !== undefined) - Number(b.fault !== undefined) ||
      Number(a.entry.witness) - Number(b.entry.witness) ||
      (a.entry.cid < b.entry.cid ? -1 : 1),
  )
  return { ...best!, stated: new Set(entries.map(({ cid }) => cid)) }
}

/** Whoever signs for an agent has to be it, or to vouch for the bytes alone. */
function faultOf({ trust }: Context, entry: VerifiedEntry, turn: Turn): string | undefined {
  const { standing, why } = trust.standingOf(entry)
  if (standing !== 'valid') return why
  if (entry.witness || trust.isNameOf(entry.author, turn.agent)) return undefined
  return `${bounded(turn.agent)} is no name of its author ${bounded(entry.author)}`
}

/** Returns the error for an entry of a relay that is none. */
export function broken(cid: CidText, why: string): HandoffError {
  return new HandoffError('HSTORE_ENTRY_INVALID', `${cid} is no entry of a relay: ${why}`, {
    details: { cid },
  })
}
