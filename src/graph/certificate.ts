import type { JsonForm } from '../../store/canonical.ts'
import { findLink, linkForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'

/** How the gate's verdict reads. */
export type Verdict = 'complete' | 'partial' | 'pending' | 'unsafe'

/** The result of one check of the gate. */
export interface CheckResult {
  readonly name: string
  readonly result: 'ok' | 'failed' | 'incomplete' | 'not made'
}

/** What the gate signs when it has judged. It reports and grants nothing. See docs/format.md, «Certificate». */
export interface Certificate {
  readonly agent: string
  readonly checks: readonly CheckResult[]
  /** Freezes seen, sorted. */
  readonly freezes: readonly CidText[]
  /** The entries judged, sorted. */
  readonly heads: readonly CidText[]
  /** Where the signing key is kept: `file` or `agent`. */
  readonly level: 'file' | 'agent'
  readonly roster: CidText
  /** Names whose absence was accepted or found, sorted. */
  readonly shallow: readonly string[]
  readonly verdict: Verdict
}

const verdicts: readonly Verdict[] = ['complete', 'partial', 'pending', 'unsafe']
const results: readonly string[] = ['ok', 'failed', 'incomplete', 'not made']

/** Returns the body of a certificate, in canonical form. */
export function certificateForm(certificate: Certificate): { [key: string]: JsonForm } {
  const { agent, checks, freezes, heads, level, roster, shallow, verdict } = certificate
  return {
    agent,
    checks: checks.map(({ name, result }) => ({ name, result })),
    freezes: freezes.map(linkForm),
    heads: heads.map(linkForm),
    level,
    roster: linkForm(roster),
    shallow: [...shallow],
    verdict,
  }
}

/** Returns the certificate that a body holds, or undefined when it holds none. */
export function findCertificate(form: {
  readonly [key: string]: JsonForm
}): Certificate | undefined {
  const fields = form as Record<string, JsonForm>
  const heads = linksOf(fields['heads'])
  const freezes = linksOf(fields['freezes'])
  const [roster] = linksOf([fields['roster'] ?? null]) ?? []
  if (heads === undefined || freezes === undefined || roster === undefined) return undefined
  if (Object.keys(form).length !== 8 || !hasPlainFields(fields)) return undefined
  const { agent, checks, level, shallow, verdict } = fields
  return { agent, checks, freezes, heads, level, roster, shallow, verdict }
}

function hasPlainFields(
  fields: Record<string, JsonForm>,
): fields is Record<string, JsonForm> &
  Pick<Certificate, 'agent' | 'checks' | 'level' | 'shallow' | 'verdict'> {
  const { agent, checks, level, shallow, verdict } = fields
  return (
    typeof agent === 'string' &&
    (level === 'file' || level === 'agent') &&
    isTexts(shallow) &&
    verdicts.some((one) => one === verdict) &&
    areChecks(checks)
  )
}

function linksOf(value: JsonForm | undefined): CidText[] | undefined {
  if (!Array.isArray(value)) return undefined
  const links = value.map((item) => findLink(item))
  return links.every(
    (link, i) =>
      link !== undefined && codecOf(link) === 'dag-json' && (i === 0 || links[i - 1]! < link),
  )
    ? (links as CidText[])
    : undefined
}

function isTexts(value: JsonForm | undefined): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function areChecks(value: JsonForm | undefined): boolean {
  if (!Array.isArray(value)) return false
  return value.every((item) => {
    const check =
      typeof item === 'object' && item !== null ? (item as Record<string, JsonForm>) : {}
    const { name, result } = check
    return (
      Object.keys(check).length === 2 &&
      typeof name === 'string' &&
      typeof result === 'string' &&
      results.includes(result)
    )
  })
}
