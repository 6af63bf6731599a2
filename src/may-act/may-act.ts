import type { Context } from '../context.ts'
import type { HrcState, Tick } from '../contracts/hrc/documents.ts'
import type { OrcDecision, OrcExecution } from '../contracts/hrc/executions.ts'
import { evaluateQuiescence, evaluateSideEffect } from '../contracts/hrc/executions.ts'
import type { HrcFile } from '../contracts/hrc/read-file.ts'
import { assertSound, readDocument, readDocuments } from '../contracts/hrc/read-file.ts'
import { assertArgument } from '../kernel/errors.ts'
import { quoted } from '../kernel/shown.ts'
import { heldView } from '../lanes/acts.ts'
import { loadLane } from '../lanes/load.ts'
import { projectState } from '../lanes/project.ts'
import { wholeView } from '../lanes/state.ts'
import type { Finding } from '../rules/rule.ts'
import type { LastContact } from './last-contact.ts'
import { lastContact } from './last-contact.ts'

/** Which execution wants to cause an effect. */
export interface MayActInput {
  /** ORC-001's document of it. */
  readonly execution: HrcFile
  /** That of the execution that started it. */
  readonly parent?: HrcFile | undefined
  /** The lane that the effect is on; the one that the execution is bound to when absent. */
  readonly lane?: string | undefined
}

/** ORC-001's answer, and what it rests on. */
export interface MayActReport extends OrcDecision {
  readonly lane: string
  readonly stream: string
  /** Who holds the pen, as this store has it. */
  readonly owner: string
  readonly epoch: number
  /** What was not checked, in words: no check is never silence. */
  readonly notMade: readonly string[]
  /** Null where no named remote was ever heard. */
  readonly lastContact: LastContact | null
}

/** An answer on all executions of a lane. */
export interface QuiescenceReport extends Omit<MayActReport, 'notMade'> {
  /** How many were given, and how many of them are bound to the lane. */
  readonly executions: number
  readonly ofLane: number
}

/** Opens the store; called once the documents are sound. */
type Open = () => Promise<Context>

/**
 * Returns whether an execution may still cause effects, by the owner and epoch of its lane in this store.
 *
 * @throws {HandoffError} `HSTORE_DOCUMENT_INVALID` for a document that breaks its schema; `HSTORE_REF_NOT_FOUND` for a
 * lane that is not open; `HSTORE_LANE_CONTESTED`, `HSTORE_EQUIVOCATION` for one that nobody holds.
 * @throws {StoreError} `HSTORE_JSON_INVALID` for a file that is no JSON, or over 2 MiB.
 */
export async function mayAct(open: Open, input: MayActInput, now: Tick): Promise<MayActReport> {
  assertArgument('input', input, 'object')
  const faults: Finding[] = []
  const execution = readDocument(input.execution, 'execution', faults) as OrcExecution
  const parent = input.parent && (readDocument(input.parent, 'execution', faults) as OrcExecution)
  assertSound(faults)
  if (input.lane !== undefined) assertArgument('lane', input.lane, 'string')
  const { state, ...lane } = await stateOf(open, input.lane ?? execution.authority_lane_id, now)
  const answer = evaluateSideEffect(state, execution, parent)
  return { ...answer, ...lane, notMade: notMade(execution, parent) }
}

/**
 * Returns whether all executions that a handoff of the lane took the ownership from have ended.
 *
 * @param executions - All that are known: a list of ORC-001's documents, or one a line.
 * @throws {HandoffError} as `mayAct`.
 * @throws {StoreError} `HSTORE_JSON_INVALID` for a file that is no JSON, empty, or over 16 MiB.
 */
export async function quiescence(
  open: Open,
  lane: string,
  executions: HrcFile,
  now: Tick,
): Promise<QuiescenceReport> {
  assertArgument('lane', lane, 'string')
  const faults: Finding[] = []
  const all = readDocuments(executions, 'execution', faults) as readonly OrcExecution[]
  assertSound(faults)
  const { state, ...rest } = await stateOf(open, lane, now)
  const ofLane = all.filter(({ authority_lane_id }) => authority_lane_id === lane).length
  return { ...evaluateQuiescence(state, all), ...rest, executions: all.length, ofLane }
}

async function stateOf(
  open: Open,
  name: string,
  now: Tick,
): Promise<
  Pick<MayActReport, 'epoch' | 'lane' | 'lastContact' | 'owner' | 'stream'> & {
    readonly state: HrcState
  }
> {
  const context = await open()
  const lane = await loadLane(context, name)
  // several heads of one epoch are a fork: who holds the pen is not in question
  const view = heldView({ lane, view: wholeView(lane.folding) })
  return {
    state: projectState(name, view),
    lane: name,
    stream: lane.stream,
    owner: view.owner,
    epoch: view.epoch,
    lastContact: (await lastContact(context, now)) ?? null,
  }
}

/** ORC-001 looks at one parent, and only where it is given. */
function notMade(
  { parent_execution_id: named }: OrcExecution,
  parent: OrcExecution | undefined,
): readonly string[] {
  if (parent === undefined) {
    if (named === undefined || named === null) return []
    return [`lineage: the parent ${quoted(named)} was not given`]
  }
  const above = parent.parent_execution_id
  if (above === undefined || above === null) return []
  return [`lineage: the parent's own parent ${quoted(above)} was not looked at`]
}
