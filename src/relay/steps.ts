import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import type { TurnContent } from '../contracts/turns/turn.ts'
import { readTurn, valueOf } from '../contracts/turns/turn.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import type { ChainedTurn } from './state.ts'
import { readChain } from './state.ts'

/** A turn as a resume tells of it. */
export interface ToldTurn {
  /** The entry of the turn. */
  readonly cid: CidText
  readonly number: string
  readonly agent: string
  /** Empty where the turn does not say. */
  readonly to: string
  /** Whether its entry's author vouches for the bytes alone. */
  readonly witness: boolean
}

/** What was asked of an agent last. */
export interface Ask extends ToldTurn {
  readonly ask: string
  readonly body: string
  /** Whether the agent has taken a turn since. */
  readonly isAnswered: boolean
}

/** A review_request for evidence that no review_result of its reviewer has brought. */
export interface EvidenceWanted extends ToldTurn {
  readonly requires: string
  readonly expected_output: string
}

/** Where a relay stands for an agent. */
export interface RelaySteps {
  readonly head: ToldTurn
  /** Null where nothing was asked of the agent. */
  readonly ask: Ask | null
  readonly evidence: readonly EvidenceWanted[]
}

interface ReadTurn extends ChainedTurn {
  readonly content: TurnContent
}

/**
 * Returns where a relay stands for an agent, down from a turn; undefined for an entry that is none.
 *
 * @throws {HandoffError} what `readChain` throws.
 */
export async function relaySteps(
  context: Context,
  entry: VerifiedEntry | undefined,
  agent: string,
): Promise<RelaySteps | undefined> {
  if (entry?.kind !== 'turn') return undefined
  const chain = (await readChain(context, entry.cid)).map((one): ReadTurn => ({
    ...one,
    content: readTurn(one.turn),
  }))
  const isOurs = (name: string): boolean => context.trust.isNameOf(agent, name)
  return {
    head: told(chain.at(-1)!),
    ask: lastAsk(chain, isOurs) ?? null,
    evidence: evidenceWanted(chain),
  }
}

function told({ entry, turn, content }: ReadTurn): ToldTurn {
  const { cid, witness } = entry
  return { cid, number: turn.number, agent: turn.agent, to: textOf(content, 'to'), witness }
}

/** M8Shift writes a dash where there is nothing to say. */
function textOf(content: TurnContent, key: string): string {
  const value = valueOf(content, key) ?? ''
  return value === '—' ? '' : value
}

function lastAsk(chain: readonly ReadTurn[], isOurs: (name: string) => boolean): Ask | undefined {
  const place = chain.findLastIndex(({ content }) => isOurs(textOf(content, 'to')))
  const found = chain[place]
  if (found === undefined) return undefined
  return {
    ...told(found),
    ask: textOf(found.content, 'ask'),
    body: found.content.body,
    isAnswered: chain.slice(place + 1).some(({ turn }) => isOurs(turn.agent)),
  }
}

function evidenceWanted(chain: readonly ReadTurn[]): EvidenceWanted[] {
  const open = new Map<string, EvidenceWanted[]>()
  for (const one of chain) {
    const { content, turn } = one
    const relation = textOf(content, 'relation')
    if (relation === 'review_result' && textOf(content, 'evidence') !== '') open.delete(turn.agent)
    const requires = textOf(content, 'requires')
    if (relation !== 'review_request' || requires === '') continue
    const wanted = { ...told(one), requires, expected_output: textOf(content, 'expected_output') }
    const of = open.get(wanted.to)
    if (of === undefined) open.set(wanted.to, [wanted])
    else of.push(wanted)
  }
  return [...open.values()].flat()
}
