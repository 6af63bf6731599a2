import type { RosterChange } from '../../roster/roster-change.ts'
import { parseGrant } from '../../roster/grants.ts'
import type { RosterShown } from '../../roster/rosters.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { GlobalOptions, Verb } from '../program.ts'
import { jsonLine } from '../render.ts'
import type { Options } from '../roster-asked.ts'
import { listOf, makeAsked, placeOf, printed, signOptions, tellMade } from '../roster-asked.ts'
import { besideLines, rosterLines } from '../roster-lines.ts'
import { openNamed } from '../settings.ts'

/** `hstore roster show`: who is trusted. */
export const rosterShow: Verb = async (io, [given], options) => {
  const version = numberOf(given, 'the version')
  await using store = await openNamed(io, options)
  return show(io, await store.rosters.show(version), options)
}

async function show(io: Io, shown: RosterShown, { json }: GlobalOptions): Promise<number> {
  const lines = [...rosterLines(shown), ...besideLines(shown)]
  await io.out(json === true ? jsonLine('roster', shown) : printed(lines))
  return 0
}

/** `hstore roster add`: trusts an agent's key. */
export const rosterAdd: Verb = async (io, [agent = '', did = ''], options) => {
  const { level } = options
  if (level !== undefined && level !== 'file' && level !== 'agent')
    throw new UsageError('--level is file or agent')
  const machine = (options['machine'] as string | undefined) ?? io.machine
  const old = options['replaces'] as string | undefined
  const replaces = old === undefined ? undefined : { did: old, place: placeOf(options) }
  const grants = listOf(options['grant']).map(parseGrant)
  const read = options['read'] === undefined ? undefined : readOf(listOf(options['read']))
  const change: RosterChange = { change: 'add', agent, did, machine, level, grants, read, replaces }
  return replaces === undefined
    ? makeNow(
        io,
        change,
        options,
        'the roster has this key already; hstore roster grant gives it more rights',
      )
    : makeAsked(io, change, options)
}

/** `hstore roster alias`: another name of an agent. */
export const rosterAlias: Verb = async (io, [agent = '', alias = ''], options) =>
  makeNow(io, { change: 'alias', agent, alias }, options, 'the agent has this name already')

/** `hstore roster read`: the streams that an agent may read. */
export const rosterRead: Verb = async (io, [agent = '', ...patterns], options) =>
  makeNow(
    io,
    { change: 'read', agent, read: readOf(patterns) },
    options,
    'the agent may read just that already',
  )

/** `hstore roster grant`: more rights for a key, or for entries that a cut left out. */
export const rosterGrant: Verb = async (io, [agent = '', did = '', ...texts], options) => {
  const readmitted = listOf(options['readmit'])
  const grants = texts.map(parseGrant)
  const change: RosterChange = { change: 'grant', agent, did, grants, readmitted }
  return makeNow(io, change, options, 'the key has these rights already')
}

/** `hstore roster propose`: other roots, another threshold. */
export const rosterPropose: Verb = async (io, _args, options) => {
  const add = listOf(options['root']).map(rootOf)
  const drop = listOf(options['drop'])
  const threshold = numberOf(options['threshold'] as string | undefined, '--threshold')
  if (add.length === 0 && drop.length === 0 && threshold === undefined)
    throw new UsageError('name what is to change: --root, --drop or --threshold')
  const change: RosterChange = { change: 'roots', add, drop, threshold }
  return makeNow(io, change, options, 'the roots are these already')
}

/** `hstore roster check`: why an entry is worth what it is worth. */
export const rosterCheck: Verb = async (io, [ref = ''], options) => {
  await using store = await openNamed(io, options)
  const checked = await store.rosters.check(ref)
  const { cid, kind, stream, author, lines, standing } = checked
  const text = printed([`${kind} ${cid} in ${stream} by ${author}`, ...lines])
  await io.out(options.json === true ? jsonLine('roster-check', checked) : text)
  return checkExits[standing]
}

const checkExits = { valid: 0, held: 3, unknown: 4, rejected: 5 } as const

/** `hstore roster pin`: goes on with one of two rosters. */
export const rosterPin: Verb = async (io, [body = ''], options) => {
  await using store = await openNamed(io, options)
  return show(io, await store.rosters.pin(body), options)
}

async function makeNow(
  io: Io,
  change: RosterChange,
  options: Options,
  nothing: string,
): Promise<number> {
  await using store = await openNamed(io, options)
  return tellMade(io, await store.rosters.make(change, signOptions(options)), options, nothing)
}

function readOf(patterns: readonly string[]): readonly string[] {
  return patterns.length === 1 && patterns[0] === 'none' ? [] : patterns
}

function rootOf(text: string): { did: string; holder: string } {
  const [, did, holder] = /^(did:key:[^:]+):(.+)$/s.exec(text) ?? []
  if (did !== undefined && holder !== undefined) return { did, holder }
  throw new UsageError(`--root is DID:HOLDER, not ${JSON.stringify(text)}`)
}

function numberOf(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (/^\d{1,15}$/.test(text)) return number
  throw new UsageError(`${option} takes a whole number, not ${JSON.stringify(text)}`)
}
