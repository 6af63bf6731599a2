import { frameCar } from '../../store/car-write.ts'
import type { CidText } from '../../store/cid-text.ts'
import { isCidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { decodeEntry } from '../entry/decode.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { Served } from './request.ts'
import type { Rights } from './rights.ts'
import { addPart, Answer, findInStream, Needs } from './serve-blocks.ts'

/** A block as a gateway gives it. */
export interface GatewayBlock {
  readonly cid: CidText
  readonly content: Uint8Array
  readonly type: 'application/vnd.ipld.raw' | 'application/vnd.ipld.car'
}

/**
 * Returns the block that a gateway's address names, or the status for none: 404 for what is not there and for what may
 * not be seen alike. An entry and its body are found by themselves, another block through `entry=CID`, which needs it.
 */
export async function findForGateway(
  served: Served,
  target: string,
  rights: Rights,
): Promise<GatewayBlock | number> {
  const url = new URL(target, 'http://gateway.invalid')
  const cid = url.pathname.slice('/ipfs/'.length)
  const format = url.searchParams.get('format') ?? 'raw'
  if (format !== 'raw' && format !== 'car') return 400
  if (!isCidText(cid)) return 404
  const entry = url.searchParams.get('entry')
  const bytes = await findBytes(served, cid, isCidText(entry) ? entry : undefined, rights)
  if (bytes === undefined) return 404
  if (format === 'raw') return { cid, content: bytes, type: 'application/vnd.ipld.raw' }
  const content = Buffer.concat([...frameCar([{ cid, bytes }])])
  return { cid, content, type: 'application/vnd.ipld.car' }
}

async function findBytes(
  served: Served,
  cid: CidText,
  entry: CidText | undefined,
  rights: Rights,
): Promise<Uint8Array | undefined> {
  await using peer = await served.open()
  const { db } = peer
  const own = await streamOf(db, cid)
  if (own !== undefined && rights.mayRead(own)) return (await findInStream(db, own, cid))?.bytes
  const carriers = entry === undefined ? ((db.readRow('bodies', cid) ?? []) as CidText[]) : [entry]
  const needs = new Needs(db)
  for (const carrier of carriers) {
    const stream = await streamOf(db, carrier)
    if (stream === undefined || !rights.mayRead(stream)) continue
    if (!(await needs.has(stream, carrier, cid))) continue
    const answer = new Answer()
    await addPart(answer, db, cid)
    return answer.blocks[0]?.bytes
  }
  return undefined
}

/** The stream of an entry that the store has. */
async function streamOf(db: Database, cid: CidText): Promise<string | undefined> {
  const [read] = await db.getMany([cid])
  if (read?.state !== 'ok' || !cid.startsWith('bag')) return undefined
  try {
    const { stream } = decodeEntry(cid, read.bytes)
    return (await findInStream(db, stream, cid)) === undefined ? undefined : stream
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
