import type { CidText } from '../../store/cid-text.ts'
import { tipPrefix } from '../../store/keyspace.ts'
import { askPlain } from './ask.ts'
import type { Ordered } from './order.ts'
import type { Transport } from './protocol.ts'
import { maxOrdered, packCids } from './protocol.ts'
import type { WithOwn } from './reconcile.ts'
import { findInStream } from './serve-blocks.ts'

/**
 * Asks a remote in which order entries of a stream follow each other: of what is not here, this side knows nothing but
 * the CIDs.
 *
 * @param cids - The first `maxOrdered` of them are asked for.
 */
export async function askOrder(
  withOwn: WithOwn,
  transport: Transport,
  stream: string,
  cids: readonly CidText[],
): Promise<Ordered> {
  const asked = [...new Set(cids)].slice(0, maxOrdered)
  const ends = (await endsOf(withOwn, stream)).slice(0, maxOrdered)
  const control = { is: 'order', stream, entries: packCids(asked), ends }
  const fields = await askPlain(transport, control, 'order')
  const known = new Set(asked)
  const isKnown = (cid: CidText): boolean => known.has(cid)
  return {
    closed: fields.cids('closed', maxOrdered, 'dag-json').filter(isKnown),
    open: fields.cids('open', maxOrdered, 'dag-json').filter(isKnown),
  }
}

/** By signer, the highest seq of a stream that is here. */
async function endsOf(withOwn: WithOwn, stream: string): Promise<[string, number][]> {
  const ends = new Map<string, number>()
  await withOwn(async ({ db }) => {
    for await (const { values } of db.rows('tips', tipPrefix(stream))) {
      for (const cid of values as CidText[]) {
        const found = await findInStream(db, stream, cid)
        if (found === undefined) continue
        const { seq, signer } = found.entry
        ends.set(signer, Math.max(seq, ends.get(signer) ?? -1))
      }
    }
  })
  return [...ends]
}
