import { frameCar } from '../../store/car-write.ts'
import type { CidText } from '../../store/cid-text.ts'
import { isCidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { decodeEntry } from '../entry/decode.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { GatewayFormat } from './gateway-format.ts'
import { formatAsked, mediaTypes } from './gateway-format.ts'
import type { Served } from './request.ts'
import type { Rights } from './rights.ts'
import { addPart, Answer, findInStream, Needs } from './serve-blocks.ts'

/** What a client asks a gateway for, rights aside. */
export interface GatewayRequest {
  /** Path and query. */
  readonly target: string
  readonly accept: string | undefined
  readonly ifNoneMatch: string | undefined
}

/** What a gateway answers. */
export interface GatewayAnswer {
  readonly status: 200 | 304 | 400 | 404 | 406 | 501
  readonly headers: Readonly<Record<string, string>>
  /** The block; of what is refused whatever there is, why. */
  readonly content: Uint8Array
}

/**
 * Returns the block that a gateway's address names, or the status for none: 404 for what is not there and for what may
 * not be seen alike. An entry and its body are found by themselves, another block through `entry=CID`, which needs it.
 *
 * @see https://specs.ipfs.tech/http-gateways/trustless-gateway/
 */
export async function answerGateway(
  served: Served,
  { target, accept, ifNoneMatch }: GatewayRequest,
  rights: Rights,
): Promise<GatewayAnswer> {
  const url = new URL(target, 'http://gateway.invalid')
  const [cid = '', ...below] = url.pathname.slice('/ipfs/'.length).split('/')
  const format = formatAsked(url.searchParams, accept)
  if (typeof format === 'number') return refused(format, whyOf[format])
  if (!isCidText(cid)) return refused(404)
  if (below.some((name) => name !== '')) return refused(501, noPaths)
  const entry = url.searchParams.get('entry')
  const bytes = await findBytes(served, cid, isCidText(entry) ? entry : undefined, rights)
  // only of what is there and may be seen it is told that it is the same
  if (bytes === undefined) return refused(404)
  const headers = headersOf(url, cid, format)
  if (isKnown(ifNoneMatch, headers.etag)) return { status: 304, headers, content: nothing }
  const content = format === 'raw' ? bytes : Buffer.concat([...frameCar([{ cid, bytes }])])
  return { status: 200, headers: { ...headers, 'content-type': mediaTypes[format] }, content }
}

const nothing = new Uint8Array(0)

const noPaths = 'there are no paths below a CID here: ask for each block by its own CID'
const whyOf: Readonly<Record<400 | 406, string>> = {
  400: 'name format=raw or format=car, or the same by Accept; a CAR has version 1 and the one block, as dag-scope=block has it',
  406: 'what is served is application/vnd.ipld.raw and application/vnd.ipld.car; version=1',
}

function refused(status: 400 | 404 | 406 | 501, why: string = ''): GatewayAnswer {
  if (why === '') return { status, headers: {}, content: nothing }
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
  }
  return { status, headers, content: Buffer.from(`${why}\n`) }
}

function headersOf(
  { pathname, searchParams }: URL,
  cid: CidText,
  format: GatewayFormat,
): Readonly<Record<string, string>> & { readonly etag: string } {
  const params = new URLSearchParams(searchParams)
  params.set('format', format)
  // who names no scope means all below: that this is the block alone is said
  if (format === 'car' && !params.has('dag-scope')) params.set('dag-scope', 'block')
  return {
    etag: `"${cid}.${format}"`,
    // one address has both forms
    vary: 'accept',
    'content-location': `${pathname}?${params.toString()}`,
    'content-disposition': `attachment; filename="${cid}.${format === 'raw' ? 'bin' : 'car'}"`,
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, max-age=29030400, immutable',
  }
}

/** Returns whether a client has what an ETag names, weak or not: bytes of one CID are the same. */
function isKnown(ifNoneMatch: string | undefined, etag: string): boolean {
  const known = (ifNoneMatch ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  return known.includes(etag) || known.includes('*')
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
