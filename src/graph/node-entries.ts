import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { Entry } from '../entry/entry.ts'
import { nodeKey } from '../entry/kinds.ts'
import { HstoreError } from '../kernel/errors.ts'

/**
 * Returns whether the entry `cid` is one node with `entry`, and valid. What somebody without a right says of a document,
 * or says in the name of a turn's agent, changes nothing about it. An entry that can't be read counts, so that its
 * damage is named.
 */
export async function isOfNode(context: Context, cid: CidText, entry: Entry): Promise<boolean> {
  try {
    const other = await getEntry(context, cid)
    if (nodeKey(other) !== nodeKey(entry)) return false
    if (context.trust.standingOf(other).standing !== 'valid') return false
    return other.kind !== 'turn' || other.witness || (await isByItsAgent(context, other))
  } catch (error) {
    if (error instanceof HstoreError) return true
    throw error
  }
}

/** Only the agent of a turn states it as its own. */
async function isByItsAgent(context: Context, { author, body }: Entry): Promise<boolean> {
  const { agent } = decodeForm(await context.db.get(body)).form as Record<string, unknown>
  return typeof agent === 'string' && context.trust.isNameOf(author, agent)
}
