import { ArgumentError, assertArgument } from '../../kernel/errors.ts'
import type { Finding } from '../../rules/rule.ts'
import type { HrcAck, HrcProposal, HrcSignal, HrcState, Tick } from './documents.ts'
import type { Decision } from './evaluate.ts'
import { evaluateCommit, evaluateHandoff, evaluateTransition } from './evaluate.ts'
import type { HrcFile } from './read-file.ts'
import { assertSound, readDocument as read } from './read-file.ts'

export type { HrcFile } from './read-file.ts'

/** How far a handoff is evaluated; each stage begins with those before it. */
export type HrcStage = 'commit' | 'handoff' | 'transition'

/** The documents that an answer rests on. */
export interface HrcFiles {
  readonly state: HrcFile
  readonly proposal: HrcFile
  /** Absent where no signal was seen. */
  readonly signal?: HrcFile | undefined
  /** Absent where no acknowledgement was seen. */
  readonly ack?: HrcFile | undefined
}

/**
 * Returns HRC-001's answer on documents given as files. Needs no store, key or agent, and looks at no clock. Every file
 * given has to keep its schema, also one that the stage does not look at.
 *
 * @param now - The tick to judge a signal by; `transition` has no use for it.
 * @throws {HandoffError} `HSTORE_DOCUMENT_INVALID` when files break their schema; `details.findings` has every place (at
 *   most 1,000), `path` the name of its file.
 * @throws {StoreError} `HSTORE_JSON_INVALID` for a file that is no JSON, or over 2 MiB.
 */
export function evaluateHrc(stage: HrcStage, files: HrcFiles, now: Tick): Decision {
  assertArgument('files', files, 'object')
  if (!Number.isSafeInteger(now) || now < 0) throw new ArgumentError('now: wanted whole seconds')
  const faults: Finding[] = []
  const state = read(files.state, 'state', faults) as HrcState
  const proposal = read(files.proposal, 'proposal', faults) as HrcProposal
  const signal = files.signal && (read(files.signal, 'reachability', faults) as HrcSignal)
  const ack = files.ack && (read(files.ack, 'ack', faults) as HrcAck)
  assertSound(faults)
  switch (stage) {
    case 'transition':
      return evaluateTransition(state, proposal)
    case 'handoff':
      return evaluateHandoff(state, proposal, signal, now)
    case 'commit':
      return evaluateCommit(state, proposal, signal, ack, now)
    default:
      throw new ArgumentError('stage: wanted transition, handoff or commit')
  }
}
