import { pae } from '../../keys/pae.ts'
import type { Signer } from '../../keys/signer.ts'
import type { JsonForm } from '../../store/canonical.ts'
import { encodeForm, linkForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { entryCid } from './decode.ts'
import type { Payload, VerifiedEntry } from './entry.ts'
import { entryPayloadType, maxEntryBytes } from './entry.ts'
import { HandoffError } from '../errors.ts'

const encoder = new TextEncoder()

/** A signed entry and its block. */
export interface Sealed {
  readonly entry: VerifiedEntry
  readonly bytes: Uint8Array
}

/**
 * Returns `payload` as a signed block. Lists have to be sorted already.
 *
 * @throws {HandoffError} `HSTORE_INPUT_TOO_LARGE` when the entry would be over 64 KiB.
 */
export function seal(payload: Payload, signer: Signer): Sealed {
  if (payload.signer !== signer.did) throw new TypeError('payload.signer is not the key that signs')
  const payloadBytes = encodeForm(payloadForm(payload))
  const sig = signer.sign(pae(entryPayloadType, payloadBytes))
  const base64 = Buffer.from(sig).toString('base64').slice(0, 86)
  const tail = encoder.encode(`,"sig":{"/":{"bytes":"${base64}"}}}`)
  const bytes = new Uint8Array(11 + payloadBytes.length + tail.length)
  bytes.set(encoder.encode('{"payload":'))
  bytes.set(payloadBytes, 11)
  bytes.set(tail, 11 + payloadBytes.length)
  if (bytes.length > maxEntryBytes) {
    throw new HandoffError(
      'HSTORE_INPUT_TOO_LARGE',
      `the entry would be ${bytes.length} bytes, more than 65536: use shorter names or fewer parents`,
    )
  }
  const entry = { ...payload, cid: entryCid(bytes), payloadBytes, sig } as VerifiedEntry
  return { entry, bytes }
}

/** Returns the canonical form of `payload`: keys in order, nothing that is empty but `parents` and `prev`. */
function payloadForm(payload: Payload): { [key: string]: JsonForm } {
  const { artifacts, name, refs, shallow, source } = payload
  return {
    ...(artifacts === undefined ? {} : { artifacts: linkForm(artifacts) }),
    author: payload.author,
    body: linkForm(payload.body),
    kind: payload.kind,
    ...(name === undefined ? {} : { name }),
    parents: links(payload.parents),
    prev: links(payload.prev),
    ...(refs.length === 0 ? {} : { refs: links(refs) }),
    roster: linkForm(payload.roster),
    seq: payload.seq,
    ...(shallow.length === 0 ? {} : { shallow: [...shallow] }),
    signer: payload.signer,
    ...(source === undefined ? {} : { source: linkForm(source) }),
    store: linkForm(payload.store),
    stream: payload.stream,
    v: 1,
    ...(payload.witness ? { witness: true } : {}),
  }
}

function links(cids: readonly CidText[]): JsonForm[] {
  return cids.map(linkForm)
}
