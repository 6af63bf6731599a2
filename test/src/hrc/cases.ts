import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type {
  HrcAck,
  HrcProposal,
  HrcSignal,
  HrcState,
} from '../../../src/contracts/hrc/documents.ts'
import type { HrcStage } from '../../../src/contracts/hrc/evaluate-files.ts'
import type { Decision, HrcStatus } from '../../../src/contracts/hrc/evaluate.ts'
import {
  evaluateCommit,
  evaluateHandoff,
  evaluateTransition,
} from '../../../src/contracts/hrc/evaluate.ts'

/** The documents of one evaluation, whether they keep their schemas or not. */
export interface HrcDocuments {
  readonly state: HrcState
  readonly proposal: HrcProposal
  readonly signal?: HrcSignal | undefined
  readonly ack?: HrcAck | undefined
}

/** All four documents, each sound. */
export interface HrcExample extends HrcDocuments {
  readonly signal: HrcSignal
  readonly ack: HrcAck
}

/** A case of fixtures/hrc/statuses. */
export interface HrcCase extends HrcDocuments {
  readonly stage: HrcStage
  /** Absent where no signal is judged. */
  readonly now?: number
  readonly breaksSchema?: boolean
  readonly expected: Decision
}

/** The exit code of each answer, as the page of the command line has it. */
export const exitCodes: Readonly<Record<HrcStatus, number>> = {
  BLOCKED_ACK_EPOCH_MISMATCH: 1,
  BLOCKED_ACK_EVENT_MISMATCH: 1,
  BLOCKED_ACK_LANE_MISMATCH: 1,
  BLOCKED_ACK_RECIPIENT_MISMATCH: 1,
  BLOCKED_ACK_STALE_PREDECESSOR: 1,
  BLOCKED_CAS_CONFLICT: 6,
  BLOCKED_FUTURE_REACHABILITY_SIGNAL: 1,
  BLOCKED_INVALID_HANDOFF_EPOCH: 1,
  BLOCKED_INVALID_REACHABILITY_SIGNAL: 1,
  BLOCKED_LANE_MISMATCH: 1,
  BLOCKED_OWNERSHIP_EPOCH_MISMATCH: 1,
  BLOCKED_REACHABILITY_NOT_SURFACED: 1,
  BLOCKED_REACHABILITY_PARTICIPANT_MISMATCH: 1,
  BLOCKED_UNKNOWN_TRANSITION_KIND: 1,
  BLOCKED_UNREAD_PREDECESSOR: 7,
  BLOCKED_WRITER_NOT_OWNER: 1,
  HANDOFF_COMMIT_ALLOWED: 0,
  HANDOFF_DELIVERABLE: 0,
  HANDOFF_REQUIRES_REACHABILITY: 3,
  PENDING_REACHABILITY_UNCHECKED: 3,
  PENDING_RECIPIENT_ACK: 3,
  PENDING_UNREACHABLE: 3,
  STATUS_TRANSITION_ALLOWED: 0,
}

/** Returns the answer of one stage on documents that need not keep their schemas. */
export function answerOf(
  stage: HrcStage,
  { state, proposal, signal, ack }: HrcDocuments,
  now: number,
): Decision {
  if (stage === 'transition') return evaluateTransition(state, proposal)
  if (stage === 'handoff') return evaluateHandoff(state, proposal, signal, now)
  return evaluateCommit(state, proposal, signal, ack, now)
}

/** Returns the files of a folder of fixtures/hrc by name, without `.json`. */
export function readFolder(name: string): ReadonlyMap<string, unknown> {
  const folder = fileURLToPath(new URL(`../../../fixtures/hrc/${name}/`, import.meta.url))
  return new Map(
    readdirSync(folder).map((file) => [
      file.replace(/\.json$/, ''),
      JSON.parse(readFileSync(`${folder}${file}`, 'utf8')),
    ]),
  )
}

/** Returns the cases of HRC-001 by status. */
export function readStatusCases(): ReadonlyMap<string, HrcCase> {
  return readFolder('statuses') as ReadonlyMap<string, HrcCase>
}

/** Returns the documents of a handoff that may be committed at {@link exampleNow}. */
export function readExample(): HrcExample {
  return Object.fromEntries(readFolder('example')) as unknown as HrcExample
}

/** A tick at which the signal of the example holds. */
export const exampleNow = 1_784_000_300
