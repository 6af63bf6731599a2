import type { JsonForm } from '../../store/canonical.ts'
import type { CarTextBlock } from '../../store/car-read.ts'
import type { CidText } from '../../store/cid-text.ts'
import { ask } from './ask.ts'
import type { Transport } from './protocol.ts'
import { packCids } from './protocol.ts'

/** An entry that a remote has. */
export interface Wanted {
  readonly stream: string
  readonly cid: CidText
}

/** How an answer ended. */
export interface Fetched {
  /** How many of the entries were looked at. */
  readonly taken: number
  /** Why it is not whole. */
  readonly fault?: unknown
}

/** An entry comes with its body and its file as given. */
const partsOfEntry = 3

/**
 * Asks for entries and reads the answer to its end. Never fails, so that it can be done beside other work.
 *
 * @param take - Given each block as it comes.
 */
export async function fetchEntries(
  transport: Transport,
  wanted: readonly Wanted[],
  take: (block: CarTextBlock) => void,
): Promise<Fetched> {
  try {
    const request = { control: { is: 'want', of: byStream(wanted) }, blocks: [] }
    const answer = await ask(transport, request, 'want')
    const taken = answer.fields.count('taken')
    if (taken < 1 || taken > wanted.length) answer.fields.fail('taken')
    let left = taken * partsOfEntry
    for await (const block of answer.blocks) {
      left -= 1
      if (left < 0) answer.fields.fail(block.cid)
      take(block)
    }
    return { taken }
  } catch (fault) {
    return { taken: 0, fault }
  }
}

function byStream(wanted: readonly Wanted[]): JsonForm[] {
  const streams = new Map<string, CidText[]>()
  for (const { stream, cid } of wanted) {
    const cids = streams.get(stream)
    if (cids === undefined) streams.set(stream, [cid])
    else cids.push(cid)
  }
  return [...streams].map(([stream, cids]) => [stream, packCids(cids)])
}
