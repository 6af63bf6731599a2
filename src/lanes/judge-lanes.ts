import type { Context } from '../context.ts'
import type { LoadedGraph } from '../graph/loaded.ts'
import { finding } from '../rules/hstore-rules.ts'
import { findLaneFinding } from '../rules/lane-rules.ts'
import type { Finding } from '../rules/rule.ts'
import { isLaneKind, nameOf } from './bodies.ts'
import type { LaneItem } from './item.ts'
import { ofKind } from './item.ts'
import type { Lane } from './load.ts'
import { loadLane } from './load.ts'
import { wholeView } from './state.ts'

/**
 * Returns where the lane entries of a loaded graph do not count, and where their lanes are contested. A lane is judged
 * whole, as the store holds it.
 */
export async function judgeLanes(context: Context, graph: LoadedGraph): Promise<Finding[]> {
  const names = new Set<string>()
  for (const { kind, stream } of graph.entries.values())
    if (isLaneKind(kind)) names.add(stream.slice('lane:'.length))
  const findings: Finding[] = []
  for (const name of [...names].sort()) {
    const lane = await loadLane(context, name)
    findings.push(...equivocationsOf(lane), ...contestOf(lane), ...faultsOf(lane, graph))
  }
  return findings
}

function contestOf({ folding, stream }: Lane): Finding[] {
  const view = wholeView(folding)
  // commits are held against each other whoever owns the lane
  if (view?.standing !== 'contested' || view.why === 'commits') return []
  const { why, epoch, cids } = view
  const message = `epoch ${epoch} of ${stream} has two ${why}: ${cids.join(', ')}`
  const found = findLaneFinding('HS4407', message, cids[0]!)
  return found === undefined ? [] : [found]
}

/** One author closed one epoch for two offers: two entries and their bodies prove it. */
function equivocationsOf({ folding }: Lane): Finding[] {
  const groups = new Map<string, LaneItem<'lane-commit'>[]>()
  for (const item of folding.items.values()) {
    const commit = ofKind(item, 'lane-commit')
    if (commit === undefined || commit.entry.name !== nameOf(commit.body)) continue
    const key = `${commit.body.ownership_epoch} ${commit.entry.author}`
    groups.set(key, [...(groups.get(key) ?? []), commit])
  }
  return [...groups.values()]
    .filter((group) => new Set(group.map(({ body }) => body.proposal)).size > 1)
    .map((group) => {
      const cids = group.map(({ entry }) => entry.cid).sort()
      const { entry, body } = group[0]!
      const closed = `closed epoch ${body.ownership_epoch} of ${folding.lane} for two offers`
      return finding('HS3009', `${entry.author} ${closed}: ${cids.join(', ')}`, { cid: cids[0]! })
    })
}

function faultsOf({ folding }: Lane, graph: LoadedGraph): Finding[] {
  const findings: Finding[] = []
  for (const [cid, { code, why }] of folding.faults) {
    if (!graph.entries.has(cid)) continue
    // a name that differs is told where the entry is held against its body
    const found = findLaneFinding(code, `the entry ${why}`, cid)
    if (found !== undefined) findings.push(found)
  }
  return findings
}
