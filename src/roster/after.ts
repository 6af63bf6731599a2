import { cidTextOf } from '../../store/cid-text.ts'
import { encodeForm } from '../../store/canonical.ts'
import type { Context } from '../context.ts'
import { groundIn } from '../context.ts'
import type { Cut } from '../trust/cut.ts'
import { cutForm } from '../trust/cut.ts'
import type { Roster } from '../trust/roster.ts'
import { rosterForm } from '../trust/roster.ts'
import { Trust } from '../trust/standing.ts'
import { cutBlock } from './cut-plan.ts'

/**
 * Returns the trust that a next version of the roster would give.
 *
 * @param cuts - The cuts that it names and that the store does not hold yet.
 */
export function trustAfter(
  { db, marks, trust }: Pick<Context, 'db' | 'marks' | 'trust'>,
  next: Roster,
  cuts: readonly Cut[],
): Trust {
  const ground = groundIn(db, marks)
  const made = new Map(cuts.map((cut) => [cutBlock(cut).cid, cutForm(cut)]))
  return new Trust({
    genesis: trust.genesis,
    path: [...trust.path, cidTextOf(encodeForm(rosterForm(next)), 'dag-json')],
    roster: next,
    fork: [],
    chosen: null,
    beside: [],
    freezes: trust.freezes,
    ground: { ...ground, findForm: (cid) => made.get(cid) ?? ground.findForm(cid) },
  })
}
