import type { Finding, Severity } from '../../rules/rule.ts'
import { assertReadable, getLock } from './lock.ts'
import { readRelay } from './markdown.ts'
import { findOddities } from './oddities.ts'
import type { TurnFinding } from './rules.ts'
import { contractSchema, judgeContract } from './rules.ts'

/** The report of M8Shift's `contract validate`: upstream's members, then hstore's `advisories`. */
export interface TurnReport {
  /** Those at or above the severity that was asked for: the archive's first, then the relay's. */
  readonly findings: readonly TurnFinding[]
  /** The version whose verdicts these are, and that another program gives them. */
  readonly m8shift_version: '3.65.0+hstore'
  readonly ok: boolean
  readonly schema: typeof contractSchema
  readonly severity_min: Severity
  readonly strict: boolean
  /** What upstream passes over in silence. Changes neither `ok` nor an exit code. */
  readonly advisories: readonly Finding[]
}

/** How a relay is judged. */
export interface TurnRules {
  /** Warnings count too; false unless said. */
  readonly strict?: boolean
  /** What is less than this is left out; `info` unless said. */
  readonly severityMin?: Severity
}

/** A relay or an archive as a file. */
export interface RelayFile {
  readonly bytes: Uint8Array
  /** What messages call it. */
  readonly name: string
}

const ranks: Readonly<Record<Severity, number>> = { info: 0, warning: 1, error: 2 }

/**
 * Returns the verdict of the stage-4 contract on a relay's turns, and on its archive's where that is given. Needs no
 * store, key or agent.
 *
 * @throws {HandoffError} `HSTORE_RELAY_INVALID` for files that M8Shift refuses to read.
 */
export function validateTurns(
  living: RelayFile,
  archive?: RelayFile,
  { strict = false, severityMin = 'info' }: TurnRules = {},
): TurnReport {
  const relay = readRelay(living.bytes)
  const lock = getLock(relay, living.name)
  const archived = archive === undefined ? undefined : readRelay(archive.bytes)
  if (archive !== undefined && archived !== undefined) assertReadable(archived, archive.name)
  const turns = [...(archived?.turns ?? []), ...relay.turns].map(({ turn }) => turn)
  const findings = judgeContract(turns).filter(
    ({ severity }) => ranks[severity] >= ranks[severityMin],
  )
  return {
    findings,
    m8shift_version: '3.65.0+hstore',
    ok: strict ? findings.length === 0 : findings.every(({ severity }) => severity !== 'error'),
    schema: contractSchema,
    severity_min: severityMin,
    strict,
    advisories: findOddities(
      { relay, path: 'M8SHIFT.md' },
      archived && { relay: archived, path: 'M8SHIFT.archive.md' },
      lock.roster,
    ),
  }
}
