import type { Tick } from '../contracts/hrc/documents.ts'
import type { LinkGraph } from './graph.ts'
import type { LaneItem } from './item.ts'

type Signal = LaneItem<'signal'>

/**
 * Returns the signal of UNAVAILABLE that came after another of the same agent over the same surface, up to a tick; undefined
 * where there is none. At one tick the later on the chain of one key counts, and of several keys UNAVAILABLE.
 *
 * @param silences - The agent's signals of UNAVAILABLE over the surface.
 */
export function findSilence(
  graph: LinkGraph,
  signal: Signal,
  silences: readonly Signal[],
  now: Tick,
): Signal | undefined {
  const { cid, signer } = signal.entry
  const at = signal.body.observed_at_tick
  return silences.find(({ entry, body }) => {
    const tick = body.observed_at_tick
    if (entry.cid === cid || tick > now || tick < at) return false
    return tick > at || entry.signer !== signer || !follows(graph, signal, entry.cid)
  })
}

/** Returns whether a signal stands behind another entry. */
function follows(graph: LinkGraph, { entry }: Signal, before: Signal['entry']['cid']): boolean {
  return graph.reached([entry.cid], [before]).has(before)
}

/** Returns the signal that counts of those over one surface and of one tick. */
export function lastOf(graph: LinkGraph, signals: readonly Signal[]): Signal | undefined {
  const lasts = signals.filter((one) =>
    signals.every((other) => {
      const isTwin = other === one || other.entry.signer !== one.entry.signer
      return isTwin || !follows(graph, other, one.entry.cid)
    }),
  )
  const rank = ({ body }: Signal): number => Number(body.status === 'UNAVAILABLE')
  return lasts.sort(
    (a, b) =>
      rank(b) - rank(a) ||
      b.body.valid_until_tick - a.body.valid_until_tick ||
      (a.entry.cid < b.entry.cid ? -1 : 1),
  )[0]
}
