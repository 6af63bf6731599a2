import type { HistoryNode } from './history.ts'
import type { RecordFacts } from './records.ts'
import type { RecordVerdict, Setting } from './register.ts'

/** The part of a record that a setting gives. */
export type Part = 'origin' | 'state'

/** A revision that set a record, or that has it in a way which nobody set. */
export interface RecordChange {
  readonly node: HistoryNode
  /** The record as it stands there; undefined where it was left out. */
  readonly facts: RecordFacts | undefined
  readonly verdict: RecordVerdict
  /** What the revision set: nothing where its author may not. */
  readonly parts: readonly Part[]
}

/** What was said of a record, whether it still counts or not, and what before. */
export interface Past {
  readonly origin: Setting | undefined
  readonly state: Setting | undefined
  /** Kept where somebody asks for it. */
  readonly change: RecordChange | undefined
  readonly before: Past | undefined
}

/** Returns the record as its state was set last, where it was not left out. */
export function lastStated(past: Past | undefined): RecordFacts | undefined {
  let at = past
  while (at !== undefined && at.state?.facts === undefined) at = at.before
  return at?.state?.facts
}

/** Returns the changes of a record, parents before children. */
export function changesIn(past: Past | undefined): readonly RecordChange[] {
  const changes: RecordChange[] = []
  for (let at = past; at !== undefined; at = at.before)
    if (at.change !== undefined) changes.push(at.change)
  return changes.toReversed()
}
