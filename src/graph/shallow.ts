import type { CidText } from '../../store/cid-text.ts'
import { compareUtf8 } from '../kernel/bytes.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'
import type { Trust } from '../trust/standing.ts'
import type { LoadedGraph } from './loaded.ts'
import { nodesOf } from './nodes.ts'

/** Returns the names at which history stops: a node's parents that none of its valid entries links. */
export function findShallow(
  graph: LoadedGraph,
  ancestry: readonly VerifiedEntry[],
  trust: Trust,
): { readonly names: readonly string[]; readonly findings: readonly Finding[] } {
  const cut = new Set(ancestry.filter(({ shallow }) => shallow.length > 0).map(({ body }) => body))
  if (cut.size === 0) return { names: [], findings: [] }
  const valid = ancestry.filter(
    (entry) => cut.has(entry.body) && trust.standingOf(entry).standing === 'valid',
  )
  const findings: Finding[] = []
  const names = new Set<string>()
  for (const { entry, entries, parents } of nodesOf(valid)) {
    const linked = new Set([...parents].map((cid: CidText) => graph.entries.get(cid)?.name))
    for (const name of new Set(entries.flatMap(({ shallow }) => shallow))) {
      if (linked.has(name)) continue
      names.add(name)
      findings.push(
        finding('HS3008', `history stops before ${name}, which the store does not hold`, {
          cid: entry.cid,
        }),
      )
    }
  }
  return { names: [...names].sort(compareUtf8), findings }
}
