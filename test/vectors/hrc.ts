import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import type { HrcAck, HrcProposal, HrcSignal, HrcState } from '../../src/contracts/hrc/documents.ts'
import type { Decision } from '../../src/contracts/hrc/evaluate.ts'
import type { OrcExecution } from '../../src/contracts/hrc/executions.ts'
import { evaluateQuiescence, evaluateSideEffect } from '../../src/contracts/hrc/executions.ts'
import type { HrcKind } from '../../src/contracts/hrc/schema.ts'
import { findFaults } from '../../src/contracts/hrc/schema.ts'
import {
  evaluateCommit,
  evaluateHandoff,
  evaluateTransition,
} from '../../src/contracts/hrc/evaluate.ts'

interface Case {
  readonly id: string
  readonly state: HrcState
  readonly proposal: HrcProposal
  readonly reachability: HrcSignal | null
  readonly ack: HrcAck | null
  readonly now_tick: number
  readonly expected: {
    readonly transition: string
    readonly handoff: string
    readonly commit: string
    readonly commit_detail: object
  }
}

interface Scenario extends Case {
  readonly kind: 'evaluate' | 'schema'
  readonly stage: 'transition' | 'handoff' | 'commit'
  readonly expected: Case['expected'] & { readonly status: string; readonly detail: object }
}

interface Judged {
  readonly kind: keyof typeof kinds
  readonly document: unknown
  readonly valid: boolean
  readonly why?: string
}

type Step = { readonly state: HrcState; readonly expected: object } & (
  | {
      readonly evaluate: 'side_effect'
      readonly execution: OrcExecution
      readonly parent: OrcExecution | null
    }
  | { readonly evaluate: 'quiescence'; readonly executions: readonly OrcExecution[] }
)

const kinds = {
  'coordination-state': 'state',
  'transition-proposal': 'proposal',
  'reachability-signal': 'reachability',
  'handoff-ack': 'ack',
} as const satisfies Record<string, HrcKind>

/** Runs the handed HRC-001 documents: schemas, each stage of the evaluator, executions. */
export function describeHrc(folder: string): void {
  const read = (name: string): unknown =>
    JSON.parse(readFileSync(path.join(folder, 'hrc', name), 'utf8'))

  const scenarios = read('scenarios.json') as readonly Scenario[]
  const evaluated = scenarios.filter(({ kind }) => kind === 'evaluate')
  const cases = [
    ...(read('cases.json') as readonly Case[]),
    ...(read('schema_invalid_cases.json') as readonly Case[]),
    ...evaluated,
  ]
  for (const one of cases) {
    it(`hrc/${one.id}`, () => {
      const { transition, handoff, commit } = stagesOf(one)
      expect({
        transition: transition.status,
        handoff: handoff.status,
        commit: commit.status,
        commit_detail: commit.detail,
      }).toEqual({ ...one.expected, status: undefined, detail: undefined })
    })
  }
  for (const { expected, ...one } of evaluated) {
    it(`hrc/${one.id}, at its stage`, () => {
      const { status, detail } = expected
      expect(stagesOf({ ...one, expected })[one.stage]).toEqual({ status, detail })
    })
  }
  const documents = [
    ...(read('schema_cases.json') as readonly Judged[]),
    ...(scenarios as readonly { readonly documents?: readonly Judged[] }[]).flatMap(
      (scenario) => scenario.documents ?? [],
    ),
  ]
  documents.forEach(({ kind, document, valid, why = 'of a scenario' }, i) => {
    it(`hrc/schema ${i}, ${kind}: ${why}`, () => {
      const faults = findFaults(document, kinds[kind])
      expect(faults.length === 0, JSON.stringify(faults)).toBe(valid)
    })
  })
  const orc = read('orc_scenarios.json') as {
    readonly scenarios: readonly { readonly id: string; readonly steps: readonly Step[] }[]
    readonly evaluations: readonly Step[]
  }
  for (const { id, steps } of [...orc.scenarios, { id: 'orc', steps: orc.evaluations }]) {
    steps.forEach((step, i) => {
      it(`hrc/${id}, evaluation ${i}`, () => expect(answerOf(step)).toEqual(step.expected))
    })
  }
}

function stagesOf({
  state,
  proposal,
  reachability,
  ack,
  now_tick: now,
}: Case): Record<Scenario['stage'], Decision> {
  const signal = reachability ?? undefined
  return {
    transition: evaluateTransition(state, proposal),
    handoff: evaluateHandoff(state, proposal, signal, now),
    commit: evaluateCommit(state, proposal, signal, ack ?? undefined, now),
  }
}

function answerOf(step: Step): object {
  return step.evaluate === 'quiescence'
    ? evaluateQuiescence(step.state, step.executions)
    : evaluateSideEffect(step.state, step.execution, step.parent ?? undefined)
}
