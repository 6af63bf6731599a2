import { quoted } from '../../kernel/shown.ts'
import type { Severity } from '../../rules/rule.ts'
import { decimalOf } from './text.ts'
import type { Turn } from './turn.ts'
import { readTurn } from './turn.ts'

/** A finding of the stage-4 contract, in upstream's form. */
export interface TurnFinding {
  /** The agent of the markers, whatever `from` says. */
  readonly agent: string
  /** The rule, as `src/rules/table.ts` names it. */
  readonly check: string
  readonly field: string
  readonly fix_hint?: string
  readonly message: string
  /** Always that of the relay, as upstream has it: of turns in the archive too. */
  readonly path: 'M8SHIFT.md'
  readonly severity: Severity
  /** The number of the turn; a bigint where JavaScript has no such number. */
  readonly turn: number | bigint
}

/** The one contract that there is. */
export const contractSchema = 'stage4.v1'

const contractFields = [
  'schema',
  'role_from',
  'role_to',
  'relation',
  'requires',
  'expected_output',
  'evidence',
  'decision',
  'waiver_reason',
  'permissions',
] as const
const relations = ['escalation', 'handoff', 'review_request', 'review_result']
const decisions = ['approve', 'reject', 'revise', 'waive']
const wantedOfRequest = ['role_to', 'requires', 'expected_output'] as const

/** A check by its last name, the field that it is about, and what is wrong. */
type Fault = readonly [check: string, severity: 'error' | 'warning', field: string, why: string]

/** Returns what breaks the stage-4 contract, turn by turn in the order given. */
export function judgeContract(turns: readonly Turn[]): TurnFinding[] {
  return turns.flatMap((turn) => {
    const values = new Map(readTurn(turn).fields.map(({ key, value }) => [key, value]))
    return faultsOf(values).map((fault) => findingOf(turn, fault))
  })
}

function findingOf({ agent, number }: Turn, [check, severity, field, why]: Fault): TurnFinding {
  const value = BigInt(decimalOf(number))
  const hint = { fix_hint: `declare schema ${contractSchema}, or leave the contract fields out` }
  return {
    agent,
    check: `contract.${check}`,
    field,
    ...(check === 'schema_missing' && hint),
    message: `turn #${value}: ${why}`,
    path: 'M8SHIFT.md',
    severity,
    turn: value <= Number.MAX_SAFE_INTEGER ? Number(value) : value,
  }
}

function faultsOf(values: ReadonlyMap<string, string>): Fault[] {
  const schema = values.get('schema') ?? ''
  if (schema === contractSchema) {
    return [...emptyFields(values), ...relationFaults(values), ...decisionFaults(values)]
  }
  if (schema !== '') {
    const why = `schema ${quoted(schema)} is unknown, ${contractSchema} is the one there is`
    return [['schema_unknown', 'error', 'schema', why]]
  }
  const given = contractFields.filter((field) => values.has(field))
  if (given.length === 0) return []
  const why = `there are contract fields (${given.join(', ')}), and no schema`
  return [['schema_missing', 'warning', 'schema', why]]
}

function emptyFields(values: ReadonlyMap<string, string>): Fault[] {
  return contractFields
    .filter((field) => values.get(field) === '')
    .map((field) => ['field_empty', 'warning', field, `${field} has no value`])
}

function relationFaults(values: ReadonlyMap<string, string>): Fault[] {
  const relation = values.get('relation') ?? ''
  if (relation === '') return [['relation_missing', 'warning', 'relation', 'no relation is given']]
  if (!relations.includes(relation)) {
    return [['relation_invalid', 'error', 'relation', noneOf('relation', relation, relations)]]
  }
  if (relation !== 'review_request') return []
  return wantedOfRequest
    .filter((field) => (values.get(field) ?? '') === '')
    .map((field) => {
      const why = `a review_request says nothing of ${field}`
      return ['review_request_incomplete', 'warning', field, why]
    })
}

function decisionFaults(values: ReadonlyMap<string, string>): Fault[] {
  const decision = values.get('decision') ?? ''
  if (decision === '') {
    const isDue = values.get('relation') === 'review_result'
    const why = 'a review_result has no decision'
    return isDue ? [['decision_missing', 'warning', 'decision', why]] : []
  }
  if (!decisions.includes(decision)) {
    return [['decision_invalid', 'error', 'decision', noneOf('decision', decision, decisions)]]
  }
  const isReasonless = decision === 'waive' && (values.get('waiver_reason') ?? '') === ''
  const why = 'a decision to waive has no waiver_reason'
  return isReasonless ? [['waiver_reason_missing', 'error', 'waiver_reason', why]] : []
}

function noneOf(field: string, value: string, words: readonly string[]): string {
  return `${field} ${quoted(value)} is none of ${words.join(', ')}`
}
