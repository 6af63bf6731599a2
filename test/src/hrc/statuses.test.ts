import { describe, expect, it } from 'vitest'
import type { OrcExecution, OrcStatus } from '../../../src/contracts/hrc/executions.ts'
import { evaluateQuiescence, evaluateSideEffect } from '../../../src/contracts/hrc/executions.ts'
import type { HrcState } from '../../../src/contracts/hrc/documents.ts'
import { rules } from '../../../src/rules/table.ts'
import { answerOf, exitCodes, readFolder, readStatusCases } from './cases.ts'

const orcStatuses: Readonly<Record<OrcStatus, true>> = {
  BLOCKED_AUTHORITY_LINEAGE_ESCAPE: true,
  BLOCKED_LANE_MISMATCH: true,
  BLOCKED_PARENT_EXECUTION_MISMATCH: true,
  BLOCKED_REVOKED_AUTHORITY_EPOCH: true,
  BLOCKED_REVOKED_AUTHORITY_OWNER: true,
  REVOCATION_PENDING_LIVE_EXECUTIONS: true,
  REVOCATION_QUIESCENT: true,
  SIDE_EFFECT_ALLOWED: true,
}

interface ExecutionCase {
  readonly state: HrcState
  readonly execution: OrcExecution
  readonly parent?: OrcExecution
  readonly executions?: readonly OrcExecution[]
  readonly expected: object
}

const statusCases = readStatusCases()
const executionCases = readFolder('executions') as ReadonlyMap<string, ExecutionCase>

describe('each status of HRC-001', () => {
  it('has a case', () => {
    expect([...statusCases.keys()].sort()).toEqual(Object.keys(exitCodes).sort())
  })

  it.each([...statusCases])('%s is given', (status, one) => {
    expect(one.expected.status).toBe(status)
    expect(answerOf(one.stage, one, one.now ?? 0)).toEqual(one.expected)
  })
})

describe('each status of ORC-001', () => {
  it('has a case', () => {
    expect([...executionCases.keys()].sort()).toEqual(Object.keys(orcStatuses).sort())
  })

  it.each([...executionCases])('%s is given', (status, { state, execution, parent, ...one }) => {
    const answer =
      one.executions === undefined
        ? evaluateSideEffect(state, execution, parent)
        : evaluateQuiescence(state, one.executions)
    expect(answer).toEqual(one.expected)
    expect(answer.status).toBe(status)
  })
})

describe('the table of rules', () => {
  it('has each status that is no yes', () => {
    const isYes = (status: string): boolean => /_(?:ALLOWED|DELIVERABLE|QUIESCENT)$/.test(status)
    const wanted = [...Object.keys(exitCodes), ...Object.keys(orcStatuses)]
    const codes = rules.filter(({ where }) => where === 'hrc').map(({ code }) => code)
    const statuses = codes.filter((code) => !code.startsWith('HS'))
    expect(statuses.sort()).toEqual([...new Set(wanted.filter((one) => !isYes(one)))].sort())
  })
})
