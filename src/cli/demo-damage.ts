import path from 'node:path'
// oxlint-disable-next-line no-restricted-imports -- goes behind the store's back on purpose
import { Level } from 'level'

/** Changes one byte of a block in the database, as a hostile or failing disk would. */
export async function changeOneByte(store: string, cid: string): Promise<void> {
  const level = new Level<string, Uint8Array>(path.join(store, 'db'), { valueEncoding: 'view' })
  await level.open()
  const key = `!blocks!${cid}`
  const bytes = Uint8Array.from((await level.get(key)) ?? [])
  const at = bytes.length >> 1
  bytes[at] = (bytes[at] ?? 0) ^ 1
  await level.put(key, bytes)
  await level.close()
}
