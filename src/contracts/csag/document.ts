/** What a file is to a handoff. */
export type HandoffArtifactRole =
  | 'article_metadata'
  | 'code'
  | 'dataset'
  | 'other'
  | 'paper_extraction'
  | 'quality_report'
  | 'result'
  | 'source_markdown'
  | 'validation_report'

/** A declared file: where it is and what its bytes are. */
export interface HandoffArtifactDigest {
  readonly id: string
  readonly artifact_role: HandoffArtifactRole
  /** A locator: a path in the bundle, or anything with a scheme or authority. */
  readonly artifact_path: string
  readonly sha256: string
  readonly media_type?: string | null
  readonly byte_size?: number | null
}

/** A judgement of assertions, with what it rests on. */
export interface HandoffAssessment {
  readonly id: string
  readonly assessment_status: 'accepted' | 'disputed' | 'open' | 'superseded'
  readonly assessment_text: string
  readonly target_assertions?: readonly string[] | null
  readonly basis_artifacts?: readonly string[] | null
  readonly basis_executions?: readonly string[] | null
  readonly basis_refs?: readonly string[] | null
  readonly created_on: string
  readonly created_by: string
}

/** A piece of work and who owns it. */
export interface HandoffAction {
  readonly id: string
  readonly action_type: string
  readonly description: string
  readonly owner: string
  readonly action_status:
    | 'blocked'
    | 'cancelled'
    | 'completed'
    | 'in_progress'
    | 'proposed'
    | 'ready'
  readonly dependencies?: readonly string[] | null
  readonly acceptance_criteria: readonly string[]
  readonly target_assertions?: readonly string[] | null
  readonly target_knowledge_gaps?: readonly string[] | null
  readonly created_on: string
  readonly created_by: string
}

/** One run for an action, with its files. */
export interface HandoffExecution {
  readonly id: string
  readonly action_ref: string
  readonly execution_type: string
  readonly execution_status:
    | 'blocked'
    | 'cancelled'
    | 'completed'
    | 'failed'
    | 'planned'
    | 'running'
  readonly command?: string | null
  readonly inputs: readonly HandoffArtifactDigest[]
  readonly outputs?: readonly HandoffArtifactDigest[] | null
  /** The locator of a lockfile, then `#sha256=` and its digest. */
  readonly environment: string
  readonly code_commit: string
  readonly execution_outcome?: string | null
  readonly started_on: string
  readonly completed_on?: string | null
  readonly created_by: string
}

/** Two or more revisions that contradict each other. */
export interface HandoffConflict {
  readonly id: string
  readonly conflict_status: 'open' | 'resolved'
  readonly description: string
  readonly competing_heads: readonly string[]
  readonly resolution?: string | null
  readonly resolved_by_head?: string | null
  readonly created_on: string
  readonly created_by: string
}

/**
 * A HandoffEnvelope 1.0.0: one revision of a workspace. `checkEnvelope` says whether a value is one.
 *
 * @see https://github.com/NeLLi-team/csag release 1.0.0
 */
export interface HandoffEnvelope {
  readonly id: string
  readonly envelope_version: '1.0.0'
  readonly revision: string
  readonly parents?: readonly string[] | null
  readonly source_artifacts: readonly HandoffArtifactDigest[]
  readonly assessments?: readonly HandoffAssessment[] | null
  readonly actions?: readonly HandoffAction[] | null
  readonly executions?: readonly HandoffExecution[] | null
  readonly conflicts?: readonly HandoffConflict[] | null
  readonly current_heads: readonly string[]
  readonly created_on: string
  readonly created_by: string
}

/** How many entries each list of an envelope has; null, absent and malformed ones count 0. */
export interface HandoffMetrics {
  readonly source_artifacts: number
  readonly assessments: number
  readonly actions: number
  readonly executions: number
  readonly conflicts: number
  readonly current_heads: number
}

/** Returns the lengths of the lists of `document`, which need not be an envelope. */
export function measureHandoff(document: unknown): HandoffMetrics {
  const lengthOf = (key: string): number => {
    if (typeof document !== 'object' || document === null || !Object.hasOwn(document, key)) return 0
    const list = (document as Record<string, unknown>)[key]
    return Array.isArray(list) ? list.length : 0
  }
  return {
    source_artifacts: lengthOf('source_artifacts'),
    assessments: lengthOf('assessments'),
    actions: lengthOf('actions'),
    executions: lengthOf('executions'),
    conflicts: lengthOf('conflicts'),
    current_heads: lengthOf('current_heads'),
  }
}

/** A record of a file with its place in the envelope. */
export interface PlacedRecord {
  readonly record: HandoffArtifactDigest
  /** Keys and positions from the root to the record. */
  readonly place: readonly (number | string)[]
  /** Whether it stands under `source_artifacts`. */
  readonly isSource: boolean
}

/** Returns the records of an envelope in reading order: sources, then inputs and outputs of each execution. */
export function walkRecords(envelope: HandoffEnvelope): PlacedRecord[] {
  const records: PlacedRecord[] = []
  envelope.source_artifacts.forEach((record, i) => {
    records.push({ record, place: ['source_artifacts', i], isSource: true })
  })
  envelope.executions?.forEach((execution, i) => {
    execution.inputs.forEach((record, j) => {
      records.push({ record, place: ['executions', i, 'inputs', j], isSource: false })
    })
    execution.outputs?.forEach((record, j) => {
      records.push({ record, place: ['executions', i, 'outputs', j], isSource: false })
    })
  })
  return records
}

/** An `environment` taken apart, with its place in the envelope. */
export interface PlacedEnvironment {
  readonly locator: string
  readonly sha256: string
  readonly place: readonly (number | string)[]
}

const DIGEST_MARK = '#sha256='

/** Returns the locator and the digest of an `environment`: what is before and after its last `#sha256=`. */
export function splitEnvironment(environment: string): { locator: string; sha256: string } {
  const at = environment.lastIndexOf(DIGEST_MARK)
  if (at < 0) return { locator: environment, sha256: '' }
  return {
    locator: environment.slice(0, at),
    sha256: environment.slice(at + DIGEST_MARK.length),
  }
}

/** Returns the lockfiles of an envelope, one for each execution. */
export function walkEnvironments(envelope: HandoffEnvelope): PlacedEnvironment[] {
  return (envelope.executions ?? []).map(({ environment }, i) => ({
    ...splitEnvironment(environment),
    place: ['executions', i, 'environment'],
  }))
}
