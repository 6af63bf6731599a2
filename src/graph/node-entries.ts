import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { getEntry } from '../context.ts'
import type { Entry } from '../entry/entry.ts'
import { nodeKey } from '../entry/kinds.ts'
import { HstoreError } from '../kernel/errors.ts'

/**
 * Returns whether the entry `cid` is one node with `entry`: the same author's, and valid. What somebody without a right
 * says of a document changes nothing about it. An entry that can't be read counts, so that its damage is named.
 */
export async function isOfNode(context: Context, cid: CidText, entry: Entry): Promise<boolean> {
  try {
    const other = await getEntry(context, cid)
    return nodeKey(other) === nodeKey(entry) && context.trust.standingOf(other).standing === 'valid'
  } catch (error) {
    if (error instanceof HstoreError) return true
    throw error
  }
}
