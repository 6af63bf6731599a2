import type { CutPlan } from '../roster/cut-plan.ts'
import type { CandidateReport, RosterMade, RosterShown } from '../roster/rosters.ts'
import { grantTexts } from '../roster/grants.ts'
import { readWords } from '../roster/read.ts'
import type { RosterReport } from '../reports.ts'

type Key = RosterReport['agents'][number]['keys'][number]

/** Returns a roster as lines. */
export function rosterLines({
  genesis,
  version,
  roots,
  threshold,
  agents,
}: RosterReport): readonly string[] {
  return [
    `genesis ${genesis}`,
    `version ${version}`,
    ...roots.map(({ did, holder }) => `root ${holder} ${did}`),
    `threshold ${threshold}`,
    ...agents.flatMap(({ id, aliases, keys, read }) => [
      `agent ${id}${aliases.length > 0 ? ` (also ${aliases.join(', ')})` : ''}`,
      ...(read.join() === '*' ? [] : [`  ${readWords(read)}`]),
      ...keys.flatMap(keyLines),
    ]),
  ]
}

/** What most keys have, everything and open, needs no line. */
function keyLines({ did, level, machine, grants }: Key): string[] {
  const isPlain = grants.length === 1 && grants.every(isEverything)
  const lines = grants.map((grant) => {
    const until = grant.until === undefined ? '' : ` up to the cut ${grant.until}`
    return `    may ${grantTexts(grant).join(' ')}${until}`
  })
  return [`  key ${did} ${level} on ${machine}`, ...(isPlain ? [] : lines)]
}

function isEverything({ kinds, streams, until }: Key['grants'][number]): boolean {
  return kinds.join() === '*' && streams.join() === '*' && until === undefined
}

/** Returns what `roster show` says beside the roster. */
export function besideLines({ fork, beside, candidates, freezes }: RosterShown): readonly string[] {
  return [
    ...fork.map((body) => `accepted against another ${body}`),
    ...beside.map((body) => `passed by ${body}, which others may go by`),
    ...(fork.length > 0 ? [] : candidates.map(candidateLine)),
    ...freezes.map(({ cid, author, key }) => `frozen ${author} ${key} by ${cid}`),
  ]
}

/** Returns what a version lacks, as one line. */
export function candidateLine({ body, version, signed, lacks }: CandidateReport): string {
  const more = [
    ...(lacks.before > 0 ? [`${lacks.before} more of the roots`] : []),
    ...(lacks.own > 0 ? [`${lacks.own} more of its own roots`] : []),
  ]
  return `waits ${body} version ${version} signed by ${signed.join(', ')}; lacks ${more.join(' and ')}`
}

/** Returns what a cut leaves and what falls outside, as lines. */
export function cutLines({ key, streams, absent, kept, settles }: CutPlan): readonly string[] {
  return [
    `of ${key} stay good`,
    ...(streams.length === 0 ? ['  nothing: this store holds no entry of it'] : []),
    ...streams.map(({ stream, last, covered, outside, some }) => {
      const kept = last === null ? 'none' : `${covered} up to ${last.cid} (seq ${last.seq})`
      const out = outside === 0 ? '' : `: ${some.join(', ')}${outside > some.length ? ' …' : ''}`
      return `  ${stream}: ${kept}; ${outside} fall outside${out}`
    }),
    ...absent.map((pin) => `  ${pin} is not here: until it is, what is not kept is held`),
    ...(kept === 0
      ? []
      : [
          `  the cut leaves out ${kept} that stay good all the same: another grant of the key, open or closed by another cut, fits them`,
        ]),
    ...settles.map((cid) => `  settles the freeze ${cid}`),
  ]
}

/** Returns what a verb that changes the roster prints. */
export function madeLines(made: RosterMade): readonly string[] {
  return [...rosterLines(made), ...(made.candidate === null ? [] : [candidateLine(made.candidate)])]
}
