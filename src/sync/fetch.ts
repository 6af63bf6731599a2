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

/** What an answer has brought, also one that was cut. */
export interface Brought {
  /** How many of the entries were looked at. */
  readonly taken: number
  readonly blocks: readonly CarTextBlock[]
  /** Why it is not whole. */
  readonly fault?: unknown
}

/**
 * Asks for entries and reads the answer to its end, so that it can be done beside other work. Never fails: what came
 * before a fault counts.
 *
 * @param tell - Told of each block as it comes.
 */
export async function fetchEntries(
  transport: Transport,
  wanted: readonly Wanted[],
  tell: (block: CarTextBlock) => void,
): Promise<Brought> {
  const blocks: CarTextBlock[] = []
  try {
    const request = { control: { is: 'want', of: byStream(wanted) }, blocks: [] }
    const answer = await ask(transport, request, 'want')
    const taken = answer.fields.count('taken')
    if (taken < 1 || taken > wanted.length) answer.fields.fail('taken')
    for await (const block of answer.blocks) {
      blocks.push(block)
      tell(block)
    }
    return { taken, blocks }
  } catch (fault) {
    return { taken: 0, blocks, fault }
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
