import type { Context } from '../context.ts'
import type { AgentKey } from '../trust/roster.ts'
import type { CutPlace } from './cut-plan.ts'
import { planCut } from './cut-plan.ts'

/** Returns whether a cut of a key at a place would leave nothing out, or is there already: the same command made it. */
export async function isCutThere(
  context: Context,
  { did, grants }: AgentKey,
  place: CutPlace,
): Promise<boolean> {
  if (place.at === 'head' && place.except.length === 0) return true
  const { trust } = context
  // freezes are pinned as they are seen: the same command may see fewer
  const notes = new Set<string>(trust.freezes.map(({ cid }) => cid))
  const textOf = (pins: readonly string[], readmitted: readonly string[]): string =>
    JSON.stringify([pins.filter((pin) => !notes.has(pin)), readmitted])
  const { pins, readmitted } = await planCut(context, did, place)
  return grants.some(({ until }) => {
    const read = until === undefined ? undefined : trust.cutOf(did, until)
    if (read?.state !== 'read') return false
    return textOf(read.cut.pins, read.cut.readmitted) === textOf(pins, readmitted)
  })
}
