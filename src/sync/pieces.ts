import type { IncomingMessage } from '../../store/wire.ts'
import type { Fields } from './protocol.ts'

/** Blocks that one message has of a large artifact, at most. */
const maxPieces = 64

/**
 * Yields the bytes of pieces as they come: those that the message gives an order of, in that order, each once.
 *
 * @param most - How many bytes were asked for, or there is room for.
 * @param refuse - Called where another block comes, or more than that, before any of it is yielded.
 */
export async function* bytesIn(
  blocks: IncomingMessage['blocks'],
  fields: Fields,
  most: number,
  refuse: () => never,
): AsyncGenerator<Uint8Array> {
  const order = fields.rows('order', maxPieces, (row) => row.link(0))
  if (new Set(order).size < order.length) refuse()
  let came = 0
  let left = most
  for await (const { cid, bytes } of blocks) {
    left -= bytes.length
    if (cid !== order[came] || left < 0) refuse()
    came += 1
    yield bytes
  }
  // a message that was cut: what came of it counts
  if (came < order.length) fields.fail('order')
}
