import { isCidText } from '../../../store/cid-text.ts'
import type { Turn } from './turn.ts'
import { readTurn } from './turn.ts'

/** What the rules over a relay's graph need of a turn. */
export interface TurnFacts {
  readonly agent: string
  readonly number: string
  /** Empty where the turn does not say. */
  readonly to: string
  readonly relation: string
  /** Whether it waives for a reason without a letter or digit, and the contract does not say so already. */
  readonly isBareWaiver: boolean
  /** CIDs, artifacts and executions among its evidence and files, each once; at most 256. */
  readonly named: readonly string[]
  /** Those among its evidence alone. */
  readonly evidenceNamed: readonly string[]
  /** The workspace of those artifacts and executions; empty where none is linked. */
  readonly workspace: string
}

// ids of CSAG records may stand below those of their workspace
const record = /^csag:(?:\S+\/)?(?:artifact|execution)\/\S/
const most = 256

/** Returns what the rules need of a turn. */
export function factsOfTurn(turn: Turn): TurnFacts {
  const values = new Map(readTurn(turn).fields.map(({ key, value }) => [key, value]))
  const valueOf = (key: string): string => values.get(key) ?? ''
  const reason = valueOf('waiver_reason')
  const isTold = valueOf('schema') === 'stage4.v1' && reason === ''
  return {
    agent: turn.agent,
    number: turn.number,
    to: valueOf('to'),
    relation: valueOf('relation'),
    isBareWaiver: valueOf('decision') === 'waive' && !/[\p{L}\p{Nd}]/u.test(reason) && !isTold,
    named: namesIn(`${valueOf('evidence')} ${valueOf('files')}`),
    evidenceNamed: namesIn(valueOf('evidence')),
    workspace: valueOf('x_workspace'),
  }
}

function namesIn(list: string): string[] {
  const names = list.split(/[\s,;]+/).filter((word) => isCidText(word) || record.test(word))
  return [...new Set(names)].slice(0, most)
}
