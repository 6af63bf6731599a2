import type { CutPlace } from '../../roster/cut-plan.ts'
import { parseGrant } from '../../roster/grants.ts'
import type { Verb } from '../program.ts'
import { jsonLine } from '../render.ts'
import {
  agreed,
  listOf,
  makeAsked,
  placeOf,
  printLines,
  signOptions,
  tellMade,
} from '../roster-asked.ts'
import { candidateLine, cutLines } from '../roster-lines.ts'
import { openNamed } from '../settings.ts'

/** `hstore roster remove`: closes all that an agent or a key may. */
export const rosterRemove: Verb = async (io, [agent = '', did], options) =>
  makeAsked(io, { change: 'remove', agent, did, place: placeOf(options) }, options)

/** `hstore roster revoke`: closes what a key may, all or in part. */
export const rosterRevoke: Verb = async (io, [agent = '', did = '', ...texts], options) => {
  const which = texts.length === 0 ? undefined : texts.map(parseGrant)
  const grants = listOf(options['keep']).map(parseGrant)
  const place = placeOf(options)
  return makeAsked(io, { change: 'revoke', agent, did, which, grants, place }, options)
}

/** `hstore roster sign`: a root's signature on a version that waits for it. */
export const rosterSign: Verb = async (io, [body = ''], options) => {
  await using store = await openNamed(io, options)
  const plan = await store.rosters.planSign(body)
  if (plan !== undefined) {
    const { candidate, lines, cuts } = plan
    printLines(io, [candidateLine(candidate), ...lines, ...cuts.flatMap(cutLines)])
    if (!(await agreed(io, options))) return 1
  }
  const made = await store.rosters.sign(body, signOptions(options))
  const nothing = plan === undefined ? 'it is accepted already' : 'it has your signature already'
  return tellMade(io, made, options, nothing)
}

/** `hstore freeze`: stops the agent's own key. */
export const freeze: Verb = async (io, _args, options) => {
  const at = listOf(options['at'])
  const place: CutPlace = { at: at.length === 0 ? 'head' : at, except: listOf(options['except']) }
  await using store = await openNamed(io, options)
  printLines(io, cutLines(await store.rosters.planFreeze(place)))
  if (!(await agreed(io, options))) return 1
  const frozen = await store.rosters.freeze(place)
  const { entry, key, pins, streams } = frozen
  const report = { cid: entry, key, pins, streams }
  await io.out(options.json === true ? jsonLine('freeze', report) : `${entry}\n`)
  return 0
}
