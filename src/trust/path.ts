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

/** The accepted versions, genesis first, and what stands against them. */
export interface RosterPath {
  readonly path: readonly Accepted[]
  /** Two or more accepted bodies at the highest version: everything stops until the roots decide. */
  readonly fork: readonly CidText[]
  /** Bodies that are accepted after a version of the path, and that the path has passed by: on record, no more. */
  readonly beside: readonly CidText[]
}

/** What a user has accepted before. */
export interface Remembered {
  /** The path, genesis first; empty at first contact. */
  readonly path: readonly CidText[]
  /** The end of the path where the user has chosen it among others; null where nobody had to choose. */
  readonly chosen: CidText | null
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
 * the roots of the version before, and of its own, carry the same body. What was accepted before and followed stays.
 * Where two bodies count at the highest version, a successor with the threshold of both decides, else what the user has
 * chosen, else the only one that was built on; else everything stops. A function of what is remembered and of the set of
 * candidates, not of their order. See docs/trust.md, «Two rosters at one version».
 */
export function acceptPath(
  genesis: CidText,
  candidates: readonly Candidate[],
  known: Remembered,
): RosterPath {
  const first = candidates.find(({ body }) => body === genesis)
  if (first === undefined || first.roster.version !== 0 || !reaches(first.roster, first)) {
    return { path: [], fork: [], beside: [] }
  }
  const path: Accepted[] = [plain(first)]
  for (;;) {
    const sides = sidesAfter(path, candidates, known)
    const settled = settle(sides, candidates, known, path.length)
    if (settled === undefined) {
      const fork = sides.map(({ body }) => body).sort()
      return { path, fork, beside: besides(path, candidates, fork) }
    }
    path.push(plain(settled))
  }
}

/** Returns what may come next: what was accepted before, and what stands against it. */
function sidesAfter(
  path: readonly Accepted[],
  candidates: readonly Candidate[],
  { path: before }: Remembered,
): readonly Candidate[] {
  const now = path.at(-1)!
  const next = candidates.filter((candidate) => follows(now, candidate))
  const [mine, after] = before.slice(path.length)
  if (mine === undefined) return next
  const found = next.find(({ body }) => body === mine)
  if (found === undefined) return []
  if (after !== undefined) return [found] // it was followed: an alternative changes nothing
  return [found, ...next.filter((other) => other !== found && standsAgainst(now, found, other))]
}

/** Roots that the accepted version has retired do not veto it: the threshold has to be of roots that are still there. */
function standsAgainst(now: Accepted, mine: Candidate, other: Candidate): boolean {
  const still = mine.roster.roots.filter(({ did }) => other.signers.has(did)).map(({ did }) => did)
  return holdersAmong(now.roster, new Set(still)).size >= now.roster.threshold
}

function settle(
  sides: readonly Candidate[],
  candidates: readonly Candidate[],
  { path: before, chosen }: Remembered,
  version: number,
): Candidate | undefined {
  if (sides.length < 2) return sides[0]
  const bound = (later: Candidate): boolean => sides.every(({ roster }) => reaches(roster, later))
  const settled = sides.filter((one) =>
    candidates.some((later) => follows(one, later) && bound(later)),
  )
  if (settled.length > 0) return settled.length === 1 ? settled[0] : undefined
  const mine = sides.find(({ body }) => body === before[version])
  if (mine === undefined || mine.body === chosen) return mine
  const followed = sides.filter((one) => candidates.some((later) => follows(one, later)))
  return followed.length === 1 && followed[0] === mine ? mine : undefined
}

function besides(
  path: readonly Accepted[],
  candidates: readonly Candidate[],
  fork: readonly CidText[],
): readonly CidText[] {
  const places = new Map(path.map((accepted) => [accepted.body, accepted]))
  const isBeside = (candidate: Candidate): boolean => {
    const { body, roster } = candidate
    const before = roster.prev && places.get(roster.prev)
    if (before === undefined || places.has(body) || fork.includes(body)) return false
    return follows(before, candidate)
  }
  return candidates
    .filter(isBeside)
    .map(({ body }) => body)
    .sort()
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
