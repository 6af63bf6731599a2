import type { VerifiedEntry } from '../entry/entry.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Roster } from './roster.ts'
import { holdersAmong } from './roster.ts'
import { findForgotten } from './succession.ts'

/** An accepted roster and the body that holds it. */
export interface Accepted {
  readonly body: CidText
  readonly roster: Roster
}

/** The accepted versions, genesis first, and where the path splits. */
export interface RosterPath {
  readonly path: readonly Accepted[]
  /** Two or more accepted bodies at the highest version: everything stops until the roots decide. */
  readonly fork: readonly CidText[]
}

/** The bodies of roster entries whose signature stands, with the dids that signed each. */
export interface Candidate {
  readonly body: CidText
  readonly roster: Roster
  readonly signers: ReadonlySet<string>
}

/** Returns roster entries gathered by the body that they carry; entries of an unreadable body are left out. */
export function gatherCandidates(
  entries: Iterable<VerifiedEntry>,
  rosterOf: (body: CidText) => Roster | undefined,
): readonly Candidate[] {
  const signers = new Map<CidText, Set<string>>()
  for (const entry of entries) {
    // a root speaks for itself: its did is the author
    if (entry.kind !== 'roster' || entry.author !== entry.signer) continue
    signers.set(entry.body, (signers.get(entry.body) ?? new Set()).add(entry.signer))
  }
  return [...signers].flatMap(([body, dids]) => {
    const roster = rosterOf(body)
    return roster === undefined ? [] : [{ body, roster, signers: dids }]
  })
}

/**
 * Returns the path of accepted rosters from `genesis` on: a version counts once a threshold of distinct holders among
 * the roots of the version before, and of its own, carry the same body. Where two bodies count at one version, `pinned`
 * (the path accepted earlier) decides, else a successor with the threshold of both. A function of the pinned path and
 * the set of candidates, not of their order.
 */
export function acceptPath(
  genesis: CidText,
  candidates: readonly Candidate[],
  pinned: readonly CidText[],
): RosterPath {
  const first = candidates.find(({ body }) => body === genesis)
  if (first === undefined || first.roster.version !== 0 || !reaches(first.roster, first)) {
    return { path: [], fork: [] }
  }
  const path: Accepted[] = [plain(first)]
  for (;;) {
    const next = candidates.filter((candidate) => follows(path.at(-1)!, candidate))
    const settled = settle(next, candidates, pinned[path.length])
    if (settled === undefined) return { path, fork: next.map(({ body }) => body).sort() }
    path.push(plain(settled))
  }
}

function settle(
  next: readonly Candidate[],
  candidates: readonly Candidate[],
  pinned: CidText | undefined,
): Candidate | undefined {
  if (pinned !== undefined) return next.find(({ body }) => body === pinned)
  if (next.length < 2) return next[0]
  const bound = (later: Candidate): boolean => next.every(({ roster }) => reaches(roster, later))
  const settled = next.filter((one) =>
    candidates.some((later) => follows(one, later) && bound(later)),
  )
  return settled.length === 1 ? settled[0] : undefined
}

function plain({ body, roster }: Candidate): Accepted {
  return { body, roster }
}

function follows(now: Accepted, candidate: Candidate): boolean {
  return (
    candidate.roster.prev === now.body &&
    findForgotten(now.roster, candidate.roster) === undefined &&
    reaches(now.roster, candidate) &&
    reaches(candidate.roster, candidate)
  )
}

function reaches(roster: Roster, candidate: Candidate): boolean {
  return holdersAmong(roster, candidate.signers).size >= roster.threshold
}
