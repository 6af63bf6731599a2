import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { decodeEntry } from '../entry/decode.ts'
import { findArtifacts } from '../graph/body.ts'
import type { Arrivals } from './arrivals.ts'
import type { Judged } from './judge.ts'
import type { Manifest } from './manifest.ts'
import { cutsOf } from './roster-right.ts'

/** Returns a block of a CAR that the entries behind its tips do not need, or undefined when they need all. */
export function needlessIn(
  arrivals: Arrivals,
  judged: Judged,
  { large, tips }: Manifest,
): CidText | undefined {
  const needed = new Set<CidText>(tips)
  const pieces = new Set(large.flatMap((one) => one.pieces))
  for (const cid of needed) {
    if (!judged.fates.has(cid)) continue
    const entry = decodeEntry(cid, arrivals.find(cid)!)
    for (const link of [...entry.parents, ...entry.prev]) needed.add(link)
    for (const part of partsIn(arrivals, entry)) needed.add(part)
  }
  for (const cid of arrivals.cids()) if (!needed.has(cid) && !pieces.has(cid)) return cid
  return undefined
}

/** Returns the blocks that an entry needs beside those that it follows, as far as what arrived says. */
export function partsIn(
  arrivals: Arrivals,
  { artifacts, body, kind, source }: ReturnType<typeof decodeEntry>,
): readonly CidText[] {
  const parts = [body, artifacts, source].filter((cid) => cid !== undefined)
  const roster = kind === 'roster' ? arrivals.find(body) : undefined
  if (roster !== undefined) parts.push(...cutsOf(roster))
  const list = artifacts === undefined ? undefined : arrivals.find(artifacts)
  if (list !== undefined) parts.push(...(findArtifacts(decodeForm(list).form) ?? []))
  return parts
}
