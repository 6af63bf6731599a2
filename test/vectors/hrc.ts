import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import type { HrcAck, HrcProposal, HrcSignal, HrcState } from '../../src/contracts/hrc/documents.ts'
import type { Decision } from '../../src/contracts/hrc/evaluate.ts'
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

/** Runs the handed HRC-001 documents: each stage of the evaluator, over valid documents and broken ones. */
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
