import { pae } from '../../keys/pae.ts'
import type { Signer } from '../../keys/signer.ts'
import type { Block } from '../../store/block.ts'
import { HashedBlock } from '../../store/block.ts'
import type { CidText } from '../../store/cid-text.ts'
import { headLength, tailLength } from './decode.ts'
import type { Payload, VerifiedEntry } from './entry.ts'
import { entryPayloadType, maxEntryBytes } from './entry.ts'
import { HandoffError } from '../errors.ts'
import { asBuffer } from '../kernel/bytes.ts'
import { asVerified } from './verify.ts'

const encoder = new TextEncoder()
// the signature has one length, so the block is spelt once, with room for it
const blankSignature = 'A'.repeat(86)
const tailOf = (base64: string): string => `,"sig":{"/":{"bytes":"${base64}"}}}`

/** A signed entry and its block. */
export interface Sealed {
  readonly entry: VerifiedEntry
  readonly block: Block
}

/**
 * Returns `payload` as a signed block. Lists have to be sorted already.
 *
 * @throws {HandoffError} `HSTORE_INPUT_TOO_LARGE` when the entry would be over 64 KiB.
 */
export function seal(payload: Payload, signer: Signer): Sealed {
  if (payload.signer !== signer.did) throw new TypeError('payload.signer is not the key that signs')
  const bytes = encoder.encode(`{"payload":${payloadText(payload)}${tailOf(blankSignature)}`)
  const payloadBytes = bytes.subarray(headLength, bytes.length - tailLength)
  const sig = signer.sign(pae(entryPayloadType, payloadBytes))
  const tail = tailOf(Buffer.from(sig).toString('base64').slice(0, 86))
  asBuffer(bytes).write(tail, bytes.length - tailLength, 'latin1')
  if (bytes.length > maxEntryBytes) {
    throw new HandoffError(
      'HSTORE_INPUT_TOO_LARGE',
      `the entry would be ${bytes.length} bytes, more than 65536: use shorter names or fewer parents`,
    )
  }
  const block = HashedBlock.of(bytes, 'dag-json')
  return { entry: asVerified({ ...payload, cid: block.cid }), block }
}

/** The canonical text of `payload`: keys in order, nothing that is empty but `parents` and `prev`. */
function payloadText(payload: Payload): string {
  const { artifacts, name, refs, shallow, source } = payload
  const parts = [
    artifacts === undefined ? '' : `"artifacts":${link(artifacts)},`,
    `"author":${JSON.stringify(payload.author)},"body":${link(payload.body)},"kind":${JSON.stringify(payload.kind)},`,
    name === undefined ? '' : `"name":${JSON.stringify(name)},`,
    `"parents":${links(payload.parents)},"prev":${links(payload.prev)},`,
    refs.length === 0 ? '' : `"refs":${links(refs)},`,
    `"roster":${link(payload.roster)},"seq":${payload.seq},`,
    shallow.length === 0 ? '' : `"shallow":${JSON.stringify(shallow)},`,
    `"signer":${JSON.stringify(payload.signer)},`,
    source === undefined ? '' : `"source":${link(source)},`,
    `"store":${link(payload.store)},"stream":${JSON.stringify(payload.stream)},"v":1`,
    payload.witness ? ',"witness":true' : '',
  ]
  return `{${parts.join('')}}`
}

function link(cid: CidText): string {
  return `{"/":"${cid}"}`
}

function links(cids: readonly CidText[]): string {
  return `[${cids.map(link).join(',')}]`
}
