import type { VerifiedEntry } from '../entry/entry.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'
import type { Trust } from '../trust/standing.ts'
import type { LoadedGraph } from './loaded.ts'

/** Returns what the roster says against the entries of a graph. Trust is computed each time, never remembered. */
export function judgeStandings(graph: LoadedGraph, trust: Trust): Finding[] {
  const findings: Finding[] = []
  for (const entry of graph.entries.values()) {
    const { code, why } = trust.standingOf(entry)
    if (code !== '' && !isPassedOver(trust, entry))
      findings.push(finding(code, why, { cid: entry.cid }))
  }
  findings.push(...judgeCuts(trust))
  if (trust.fork.length > 0) {
    findings.push(
      finding('HS2009', `two rosters are accepted at one version: ${trust.fork.join(', ')}`),
    )
  }
  for (const body of trust.beside) {
    const message = `${body} was accepted by others, and the path has passed by it: ask the roots which counts`
    findings.push(finding('HS2011', message, { cid: body }))
  }
  return findings
}

/** Cuts that cover less than whoever made them meant. */
function judgeCuts(trust: Trust): Finding[] {
  return trust.closedKeys().flatMap(({ did, until }) => {
    const read = trust.cutOf(did, until)
    if (read.state === 'absent') return [] // named as damage where it was looked for
    const padding = read.state === 'odd' ? [until] : read.cover.padding
    const what = read.state === 'odd' ? 'no cut of' : 'pinned by its cut, and no entry of'
    return padding.map((cid) =>
      finding('HS2010', `${cid} is ${what} ${did}: it covers nothing`, { cid }),
    )
  })
}

/** Returns whether an entry is a roster that is not accepted: it is on record and changes nothing. */
export function isPassedOver(trust: Trust, entry: VerifiedEntry): boolean {
  return entry.kind === 'roster' && trust.standingOf(entry).standing === 'held'
}
