import type { HandoffAction, HandoffConflict } from './contracts/csag/document.ts'
import type { VerifiedEntry } from './entry/entry.ts'
import type { Finding } from './rules/rule.ts'
import type { CheckResult, Verdict } from './graph/certificate.ts'
import type { RelaySteps } from './relay/steps.ts'
import type { ResumeReport } from './resume/resume.ts'
import type { PutArtifact, PutResult } from './put/put.ts'
import type { Roster } from './trust/roster.ts'
import type { Trust } from './trust/standing.ts'

/** An entry's fields as reports name them. */
export interface EntryReport {
  readonly cid: string
  readonly kind: string
  readonly body: string
  readonly stream: string
  readonly revision: string
  readonly author: string
  readonly signer: string
  readonly seq: number
  readonly parents: readonly string[]
  readonly shallow: readonly string[]
  /** True: the author vouches for the bytes of another's document. */
  readonly witness: boolean
}

/** What `put` gives. Keys are stable; more may be added. */
export interface PutReport extends EntryReport {
  /** False when the same document was there already. */
  readonly new: boolean
  readonly artifacts: readonly PutArtifact[]
  /** Advice that changes nothing, one line each. */
  readonly warnings: readonly string[]
}

const largeBodyBytes = 1024 * 1024

/** Returns the report of a put. */
export function putReport({ entry, isNew, artifacts, bodyBytes }: PutResult): PutReport {
  const warnings =
    bodyBytes < largeBodyBytes
      ? []
      : [`the envelope is ${bodyBytes} bytes and the limit is 2097152: move text into artifacts`]
  return { ...entryReport(entry), new: isNew, artifacts, warnings }
}

/** Returns the fields of an entry that every report has. */
export function entryReport(entry: VerifiedEntry): EntryReport {
  const { cid, kind, body, stream, author, signer, seq, parents, shallow, witness } = entry
  return {
    cid,
    kind,
    body,
    stream,
    revision: entry.name ?? '',
    author,
    signer,
    seq,
    parents,
    shallow,
    witness,
  }
}

/** What `resume` gives. */
export interface ResumeJson {
  readonly verdict: Verdict
  readonly entry: string
  readonly stream: string | null
  readonly revision: string | null
  readonly author: string | null
  readonly agent: string
  readonly history: 'full' | 'shallow'
  readonly checks: readonly CheckResult[]
  readonly notMade: readonly string[]
  readonly findings: readonly Finding[]
  readonly actions: readonly HandoffAction[]
  readonly conflicts: readonly HandoffConflict[]
  readonly relay: RelaySteps | null
  readonly missing: readonly string[]
  readonly certificate: string | null
  readonly out: string | null
  /** The exit code of the command line. */
  readonly exit: number
}

/** Returns the report of a resume. */
export function resumeReport(report: ResumeReport, agent: string): ResumeJson {
  const { entry, certificate, out } = report
  return {
    verdict: report.verdict,
    entry: report.head,
    stream: entry?.stream ?? null,
    revision: entry?.name ?? null,
    author: entry?.author ?? null,
    agent,
    history: report.history,
    checks: report.checks,
    notMade: report.notMade,
    findings: report.findings,
    relay: report.relay ?? null,
    actions: report.actions,
    conflicts: report.conflicts,
    missing: report.missing,
    certificate: certificate ?? null,
    out: out ?? null,
    exit: report.exit,
  }
}

/** What `roster show` gives. */
export interface RosterReport {
  readonly genesis: string
  readonly version: number
  readonly body: string
  readonly roots: Roster['roots']
  readonly threshold: number
  readonly agents: Roster['agents']
}

/** Returns the report of the highest accepted roster. */
export function rosterReport({ genesis, roster, rosterBody }: Trust): RosterReport {
  const { version, roots, threshold, agents } = roster
  return { genesis, version, body: rosterBody, roots, threshold, agents }
}
