import { parseDidKey } from '../../keys/did-key.ts'
import { verify, verifyInBackground } from '../../keys/ed25519.ts'
import { pae } from '../../keys/pae.ts'
import type { CidText } from '../../store/cid-text.ts'
import { RecentMap } from '../kernel/recent-map.ts'
import type { Entry, SignedEntry, VerifiedEntry } from './entry.ts'
import { entryPayloadType } from './entry.ts'

/**
 * Returns the entry as verified when its signature stands: Ed25519 over DSSE's encoding of the payload's bytes as
 * they stand in the block. Says nothing of the signer's rights; the roster does (`src/trust/standing.ts`).
 */
export function findVerified(entry: SignedEntry): VerifiedEntry | undefined {
  const stands = verify(entry.sig, signedBytes(entry), parseDidKey(entry.signer))
  return stands ? asVerified(entry) : undefined
}

/** Returns what `findVerified` does, reached on another thread: for many entries at once. */
export async function findVerifiedInBackground(
  entry: SignedEntry,
): Promise<VerifiedEntry | undefined> {
  const stands = await verifyInBackground(entry.sig, signedBytes(entry), parseDidKey(entry.signer))
  return stands ? asVerified(entry) : undefined
}

/**
 * Returns an entry as verified whose signature was made or checked before. Histories are long and their entries much
 * alike, so what the signature covers is let go, and what they have in common is kept once.
 */
export function asVerified(entry: Entry): VerifiedEntry {
  const { artifacts, body, cid, name, refs, seq, shallow, source, witness } = entry
  const parents = entry.parents.length === 0 ? none : entry.parents
  const prev = isSame(entry.prev, entry.parents) ? parents : entry.prev
  const kept: Entry = {
    artifacts,
    author: once(entry.author),
    body,
    cid,
    kind: once(entry.kind),
    name,
    parents,
    prev: prev.length === 0 ? none : prev,
    refs: refs.length === 0 ? none : refs,
    roster: once(entry.roster),
    seq,
    shallow: shallow.length === 0 ? none : shallow,
    signer: once(entry.signer),
    source,
    store: once(entry.store),
    stream: once(entry.stream),
    witness,
  }
  return kept as VerifiedEntry
}

function isSame(a: readonly CidText[], b: readonly CidText[]): boolean {
  return a.length === b.length && a.every((cid, i) => cid === b[i])
}

const none: readonly never[] = []
const texts = new RecentMap<string>(1024)

/** Returns the copy of a text that is in use already. */
function once<T extends string>(text: T): T {
  const known = texts.get(text)
  if (known !== undefined) return known as T
  texts.set(text, text)
  return text
}

function signedBytes(entry: SignedEntry): Uint8Array {
  return pae(entryPayloadType, entry.payloadBytes)
}
