import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { bounded } from '../kernel/shown.ts'
import type { Ask } from '../relay/steps.ts'
import { relaySteps } from '../relay/steps.ts'
import type { ReachedState } from './offers.ts'

/** What was asked of an agent on a relay and no turn of it has answered. */
export interface InboxTurn {
  readonly relay: string
  readonly stream: string
  /** The entry of the turn. */
  readonly cid: CidText
  readonly number: string
  readonly agent: string
  readonly ask: string
  /** Whether its entry's author vouches for the bytes alone. */
  readonly witness: boolean
  /** Why nobody is bound by it; null where its agent is. */
  readonly problem: string | null
  /** A turn is stored, and no entry says more of it than that. */
  readonly states: readonly ReachedState<'stored'>[]
}

/** Returns the last asks of an agent that are open on a relay, one a head at most. */
export async function findAsks(
  context: Context,
  stream: string,
  heads: readonly VerifiedEntry[],
  agent: string,
): Promise<readonly InboxTurn[]> {
  const asks: Ask[] = []
  for (const head of heads) {
    const ask = (await relaySteps(context, head, agent))?.ask ?? null
    if (ask !== null) asks.push(ask)
  }
  // what one branch answers is answered
  const answered = new Set(asks.filter(({ isAnswered }) => isAnswered).map(({ cid }) => cid))
  const open = new Map(asks.map((ask) => [ask.cid, ask]))
  const turns: InboxTurn[] = []
  for (const ask of open.values())
    if (!answered.has(ask.cid)) turns.push(await told(context, stream, ask))
  return turns
}

async function told(context: Context, stream: string, ask: Ask): Promise<InboxTurn> {
  const { cid, number, agent, ask: text, witness } = ask
  return {
    relay: stream.slice('m8:'.length),
    stream,
    cid,
    number,
    agent,
    ask: text,
    witness,
    problem: problemOf(context, await getEntry(context, cid), agent) ?? null,
    states: [{ state: 'stored', cid }],
  }
}

function problemOf({ trust }: Context, entry: VerifiedEntry, agent: string): string | undefined {
  const { standing, why } = trust.standingOf(entry)
  if (standing !== 'valid') return why
  if (entry.witness || trust.isNameOf(entry.author, agent)) return undefined
  return `${bounded(agent)} is no name of its author ${bounded(entry.author)}`
}
