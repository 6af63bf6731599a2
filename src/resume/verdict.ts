import type { LoadedGraph } from '../graph/loaded.ts'
import type { Finding } from '../rules/rule.ts'
import type { CheckResult, Verdict } from '../graph/certificate.ts'

/** Exit codes of docs/cli.md that a verdict can give. */
export type GateExit = 0 | 1 | 3 | 4 | 5 | 6 | 9

const partialCodes = new Set(['HS1012', 'HS2106', 'HS3014', 'HS3015'])
/** Findings that a roster which is not here, or not made yet, would settle, or the addressee of an offer. */
export const pendingCodes: ReadonlySet<string> = new Set([
  'HS2004',
  'HS2005',
  'PENDING_REACHABILITY_UNCHECKED',
  'PENDING_UNREACHABLE',
])
/** What an error means that is not damage. What turns owe each other is missing, and nothing that is there is wrong. */
export const errorExits: ReadonlyMap<string, 1 | 4 | 6 | 9> = new Map<string, 1 | 4 | 6 | 9>([
  ['HS1005', 9],
  ['HS2002', 4],
  ['HS3009', 6],
  ['HS4315', 1],
  ['HS4316', 1],
  ['HS4317', 1],
])

/** Returns verdict, exit code and the result of each check, from what the checks found. */
export function concludes(
  checks: ReadonlyMap<string, readonly Finding[]>,
  shallow: readonly string[],
  acceptShallow: readonly string[],
): { readonly verdict: Verdict; readonly exit: GateExit; readonly checks: readonly CheckResult[] } {
  const lacks = shallow.filter((name) => !acceptShallow.includes(name))
  const listed = [...checks].map(([name, findings]) => ({
    name,
    result: resultOf(findings, lacks),
  }))
  const findings = [...checks.values()].flat()
  const isOwed = ({ code }: Finding): boolean => errorExits.get(code) === 1
  const worst = findings.find((one) => one.severity === 'error' && !isOwed(one))
  if (worst !== undefined)
    return { verdict: 'unsafe', exit: errorExits.get(worst.code) ?? 5, checks: listed }
  if (findings.some(({ code }) => pendingCodes.has(code)))
    return { verdict: 'pending', exit: 3, checks: listed }
  const isPartial =
    lacks.length > 0 || findings.some((one) => partialCodes.has(one.code) || isOwed(one))
  return isPartial
    ? { verdict: 'partial', exit: 1, checks: listed }
    : { verdict: 'complete', exit: 0, checks: listed }
}

function resultOf(findings: readonly Finding[], lacks: readonly string[]): CheckResult['result'] {
  if (findings.some(({ severity }) => severity === 'error')) return 'failed'
  const isLow = ({ code }: Finding): boolean =>
    pendingCodes.has(code) || partialCodes.has(code) || (code === 'HS3008' && lacks.length > 0)
  return findings.some(isLow) ? 'incomplete' : 'ok'
}

/** Returns in words what was not checked: «no check» is never silence. */
export function checksNotMade(
  graph: LoadedGraph,
  remote: readonly string[],
  lanes: readonly string[],
): string[] {
  return [
    ...(lanes.length === 0 ? ['lane: no lane binds the entry'] : []),
    ...(remote.length > 0 ? [`bytes of ${remote.length} remote artifacts`] : []),
    ...(graph.before.size > 0
      ? [
          `blocks behind ${[...graph.before].sort().join(', ')}: verified before, bytes not read again`,
        ]
      : []),
  ]
}
