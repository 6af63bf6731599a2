import type { SignedEntry } from '../entry/entry.ts'
import type { Trust } from '../trust/standing.ts'
import type { Proof, ProofKind } from './proof.ts'
import { judgeProof, readProof } from './proof.ts'

/** One of the two entries, and what the roster makes of it; null where there is no roster to ask. */
export interface ProofEntry {
  readonly cid: string
  readonly body: string
  readonly author: string
  readonly signer: string
  readonly standing: 'held' | 'rejected' | 'unknown' | 'valid' | null
  readonly why: string
}

/** What a proof comes to. */
export interface ProofReport {
  /** Null where it proves nothing. */
  readonly proves: ProofKind | null
  /** Why not, or what is still open; empty where all is said. */
  readonly why: string
  readonly genesis: string
  readonly stream: string
  readonly kind: string
  readonly name: string
  readonly entries: readonly ProofEntry[]
  /** What resolves it, one way a line. */
  readonly resolve: readonly string[]
  /** 0 proven, 1 nothing proven, 3 no roster says whose keys these are, or one is held, 4 of an unknown signer. */
  readonly exit: 0 | 1 | 3 | 4
}

/**
 * Checks a proof's file.
 *
 * @param trust - The rosters of the store that it speaks of; without them nothing says whose the keys are.
 * @throws {HandoffError} `HSTORE_PROOF_INVALID`.
 */
export function checkProof(file: Uint8Array, trust?: Trust): ProofReport {
  return reportOf(readProof(file), trust)
}

/** Returns what a proof comes to under a store's rosters, or without any. */
export function reportOf(proof: Proof, trust: Trust | undefined): ProofReport {
  const [first] = proof.entries
  const judged = judgeProof(proof)
  const own = trust?.genesis === first.store ? trust : undefined
  const entries = proof.entries.map((entry) => toldEntry(entry, own))
  const facts = {
    genesis: first.store,
    stream: first.stream,
    kind: first.kind,
    name: first.name ?? '',
    entries,
  }
  if (typeof judged !== 'string')
    return { ...facts, proves: null, why: judged.why, resolve: [], exit: 1 }
  const open = whyOpen(entries, trust, own)
  return {
    ...facts,
    proves: open.exit === 1 ? null : judged,
    ...open,
    resolve: open.exit === 0 ? waysOut(judged, proof.entries) : [],
  }
}

function toldEntry(entry: SignedEntry, trust: Trust | undefined): ProofEntry {
  const { cid, body, author, signer } = entry
  const { standing = null, why = '' } = trust?.standingOf(entry) ?? {}
  return { cid, body, author, signer, standing, why }
}

function whyOpen(
  entries: readonly ProofEntry[],
  given: Trust | undefined,
  own: Trust | undefined,
): Pick<ProofReport, 'exit' | 'why'> {
  if (own === undefined) {
    const why = given === undefined ? 'there is no store here' : 'the store here is another'
    return { exit: 3, why: `${why}, so nothing says whose keys these are` }
  }
  const order = ['unknown', 'rejected', 'held'] as const
  for (const standing of order) {
    const found = entries.find((entry) => entry.standing === standing)
    if (found !== undefined) return { exit: exits[standing], why: `${found.cid}: ${found.why}` }
  }
  return { exit: 0, why: '' }
}

const exits = { unknown: 4, rejected: 1, held: 3 } as const

function waysOut(kind: ProofKind, [a, b]: Proof['entries']): string[] {
  if (kind === 'collision')
    return [
      'the name is ambiguous, nothing else: both entries stay usable by their CIDs',
      `a root can leave one out: hstore roster revoke AGENT DID --as-of-head --except CID`,
    ]
  const revoke = `hstore roster add ${a.author} NEWDID --replaces ${a.signer} --as-of-head --except`
  return [
    `the roots choose, and give the agent a new key: ${revoke} ${a.cid} (or ${b.cid})`,
    `the author can stop its key meanwhile, and keep one: hstore freeze --except CID`,
  ]
}
