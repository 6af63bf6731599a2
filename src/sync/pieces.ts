import type { CidText } from '../../store/cid-text.ts'
import type { IncomingMessage } from '../../store/wire.ts'
import type { Fields } from './protocol.ts'

/** Yields the bytes of pieces in the order that a message gives them; equal ones came once. */
export async function* bytesIn(
  blocks: IncomingMessage['blocks'],
  fields: Fields,
): AsyncGenerator<Uint8Array> {
  const came = new Map<CidText, Uint8Array>()
  for await (const { cid, bytes } of blocks) came.set(cid, bytes)
  for (const row of fields.rows('order', 64, (row) => row.link(0)))
    yield came.get(row) ?? fields.fail('order')
}
