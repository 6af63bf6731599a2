import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { isCidText } from '../../store/cid-text.ts'
import { factsOfTurn } from '../contracts/turns/turn-facts.ts'
import type { TurnContent } from '../contracts/turns/turn.ts'
import { readTurn, valueOf } from '../contracts/turns/turn.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { agentNames } from './agent-names.ts'
import { filePlaces } from './file-places.ts'
import type { ChainedTurn } from './line.ts'
import { readLine } from './line.ts'
import type { NameFinder } from './named-things.ts'
import { makeNameFinder } from './named-things.ts'
import { findNote } from './state.ts'

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
 * Returns where a relay stands for an agent, down from a turn; undefined for an entry that is none. Where the latest note
 * is on that turn, its files say which turn is the last.
 *
 * @throws {HandoffError} what `readLine` throws.
 */
export async function relaySteps(
  context: Context,
  entry: VerifiedEntry | undefined,
  agent: string,
): Promise<RelaySteps | undefined> {
  if (entry?.kind !== 'turn') return undefined
  const line = await inFileOrder(context, entry)
  const turns = line.map((one): ReadTurn => ({ ...one, content: readTurn(one.turn) }))
  const isOurs = (name: string): boolean => context.trust.isNameOf(agent, name)
  return {
    head: told(turns.at(-1)!),
    ask: lastAsk(turns, isOurs) ?? null,
    evidence: await evidenceWanted(context, turns),
  }
}

/** An archive that came after the relay has turns which are older than those before them in the line. */
async function inFileOrder(
  context: Context,
  { cid, stream }: VerifiedEntry,
): Promise<readonly ChainedTurn[]> {
  const { turns: chain } = await readLine(context, [cid])
  const note = await findNote(context, stream)
  const head = note?.head
  if (head === undefined || chain.at(-1)?.stated.has(head) !== true) return chain
  if (note?.turns !== chain.length) return chain
  const { archive, living } = filePlaces({ chain, note, places: [...chain.keys()] })
  return [...archive, ...living].map((place) => chain[place]!)
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

/**
 * A review_result answers the first review_request to its agent that none has answered, else the first that still lacks
 * evidence. With evidence that is there it brings what was required; an answer without brings nothing.
 */
async function evidenceWanted(
  context: Context,
  chain: readonly ReadTurn[],
): Promise<EvidenceWanted[]> {
  const agentOf = agentNames(context.trust.roster)
  const isThere = makeNameFinder(context)
  const open: { readonly wanted: EvidenceWanted; isAnswered: boolean }[] = []
  for (const one of chain) {
    const { content, turn } = one
    const relation = textOf(content, 'relation')
    const requires = textOf(content, 'requires')
    if (relation === 'review_result') {
      const own = open.filter(({ wanted }) => agentOf(wanted.to) === agentOf(turn.agent))
      const answered = own.find(({ isAnswered }) => !isAnswered) ?? own[0]
      if (answered === undefined) continue
      answered.isAnswered = true
      if (await bringsEvidence(one, isThere)) open.splice(open.indexOf(answered), 1)
    } else if (relation === 'review_request' && requires !== '') {
      const expected_output = textOf(content, 'expected_output')
      open.push({ wanted: { ...told(one), requires, expected_output }, isAnswered: false })
    }
  }
  return open.map(({ wanted }) => wanted)
}

/** Evidence says something, and what it names by CID, or by id in a workspace, is there. */
async function bringsEvidence({ content, turn }: ReadTurn, isThere: NameFinder): Promise<boolean> {
  const evidence = textOf(content, 'evidence')
  if (!/[\p{L}\p{Nd}]/u.test(evidence)) return false
  const { evidenceNamed, workspace } = factsOfTurn(turn)
  for (const name of evidenceNamed) {
    if (!isCidText(name) && workspace === '') continue
    if (!(await isThere(name, workspace))) return false
  }
  return true
}
