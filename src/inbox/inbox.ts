import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import type { Tick } from '../contracts/hrc/documents.ts'
import { headsOf, streamsOf } from '../graph/ref.ts'
import { HstoreError } from '../kernel/errors.ts'
import { assertKnown } from '../lanes/known-agent.ts'
import { laneNames, loadLane } from '../lanes/load.ts'
import { wholeView } from '../lanes/state.ts'
import type { InboxTurn } from './asks.ts'
import { findAsks } from './asks.ts'
import type { InboxOffer } from './offers.ts'
import { findOffers } from './offers.ts'

/** A lane or relay of which not all can be said. */
export interface InboxTrouble {
  readonly stream: string
  readonly trouble: 'contested' | 'forked' | 'unopened' | 'unreadable'
  readonly why: string
  /** The entries that it is about. */
  readonly cids: readonly CidText[]
}

/** What waits for an agent, and what became of what it has offered. */
export interface Inbox {
  readonly agent: string
  /** How many offers and turns wait for the agent. */
  readonly waiting: number
  /** Offers to the agent. */
  readonly received: readonly InboxOffer[]
  /** Offers by the agent. */
  readonly made: readonly InboxOffer[]
  readonly turns: readonly InboxTurn[]
  /** Of any lane and relay, whomever it concerns. */
  readonly troubles: readonly InboxTrouble[]
}

interface Found {
  readonly offers: InboxOffer[]
  readonly turns: InboxTurn[]
  readonly troubles: InboxTrouble[]
}

/**
 * Returns what waits for an agent over all lanes and relays. Each state names the entry that it rests on. Every lane is
 * read once, and every relay once for each of its heads.
 *
 * @throws {HandoffError} `HSTORE_AGENT_UNKNOWN` for who is no agent of the roster: nothing would ever wait for it.
 */
export async function readInbox(context: Context, agent: string, now: Tick): Promise<Inbox> {
  assertKnown(context, agent)
  const found: Found = { offers: [], turns: [], troubles: [] }
  for (const name of await laneNames(context)) await readOffers(context, name, now, found)
  for (const stream of await streamsOf(context, 'm8:'))
    await readTurns(context, stream, agent, found)
  const received = found.offers.filter(({ to }) => to === agent)
  const made = found.offers.filter(({ from }) => from === agent)
  const { turns, troubles } = found
  const ours = [...received, ...made].filter(({ waitsFor }) => waitsFor === agent)
  return { agent, waiting: ours.length + turns.length, received, made, turns, troubles }
}

async function readOffers(
  context: Context,
  name: string,
  now: Tick,
  { offers, troubles }: Found,
): Promise<void> {
  const lane = await loadLane(context, name)
  const { stream } = lane
  const view = wholeView(lane.folding)
  if (view === undefined) {
    const cids = [...lane.entries.keys()].sort()
    troubles.push({ stream, trouble: 'unopened', why: 'no opening of it counts', cids })
    return
  }
  if (view.standing === 'contested') {
    const { cids, epoch, why: what } = view
    const why = `two ${what} of epoch ${epoch}: its roots decide with hstore lane takeover`
    troubles.push({ stream, trouble: 'contested', why, cids })
    return
  }
  if (view.heads.length > 1) {
    const why = `it has ${view.heads.length} heads: ${view.owner} joins them with hstore lane join`
    const cids = view.heads.flatMap(({ entries }) => entries).sort()
    troubles.push({ stream, trouble: 'forked', why, cids })
  }
  offers.push(...findOffers(lane, view, now))
}

/** What is wrong with one relay hides no other. */
async function readTurns(
  context: Context,
  stream: string,
  agent: string,
  { turns, troubles }: Found,
): Promise<void> {
  try {
    const heads = await headsOf(context, stream)
    if (heads.length > 1) {
      const why = `it has ${heads.length} heads: a turn that follows all of them joins them`
      troubles.push({ stream, trouble: 'forked', why, cids: heads.map(({ cid }) => cid).sort() })
    }
    turns.push(...(await findAsks(context, stream, heads, agent)))
  } catch (error) {
    if (!(error instanceof HstoreError)) throw error
    troubles.push({ stream, trouble: 'unreadable', why: error.message, cids: [] })
  }
}
