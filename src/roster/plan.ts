import { isDidKey } from '../../keys/did-key.ts'
import type { Block } from '../../store/block.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { groundIn } from '../context.ts'
import type { Entry } from '../entry/entry.ts'
import { HandoffError } from '../errors.ts'
import { assertAgent } from '../init.ts'
import { quoted } from '../kernel/shown.ts'
import type { Cut } from '../trust/cut.ts'
import type { AgentKey, Grant, Roster } from '../trust/roster.ts'
import { fitsPattern } from '../trust/roster.ts'
import { trustAfter } from './after.ts'
import {
  agentOf,
  isMeant,
  keyOf,
  withAlias,
  withClosed,
  withGrants,
  withKey,
  withLevel,
  withRead,
  withRoots,
} from './change.ts'
import type { CutPlace, CutPlan } from './cut-plan.ts'
import { cutBlock, planCut, planSettling, tellCut } from './cut-plan.ts'
import { isCutThere } from './done.ts'
import { everything, givesSame, grantTexts, sortedGrants } from './grants.ts'
import { readPatterns, readWords } from './read.ts'
import type { ChangeOf, RosterChange } from './roster-change.ts'
import { successorOf } from './submit.ts'
import { changesBetween } from './told.ts'

/** A roster version that is to be made. */
export interface RosterPlan {
  /** The next version; undefined when nothing would change. */
  readonly next: Roster | undefined
  readonly blocks: readonly Block[]
  readonly cuts: readonly CutPlan[]
  /** What it changes, in words. */
  readonly lines: readonly string[]
}

/** Works a change into a roster, and notes the cuts that it makes. */
class Planning {
  readonly #context: Context
  readonly cuts: { readonly cut: Cut; readonly isWhole: boolean }[] = []
  next: Roster

  constructor(context: Context) {
    this.#context = context
    this.next = successorOf(context.trust)
  }

  /** Closes open grants of a key at a place. */
  async close(did: string, place: CutPlace, which: readonly Grant[] | undefined): Promise<void> {
    const cut = await planSettling(this.#context, did, place)
    this.cuts.push({ cut, isWhole: place.at === 'head' && place.except.length === 0 })
    this.next = withClosed(this.next, did, cutBlock(cut).cid, which)
  }

  /** Gives rights to entries that are listed, and to no others. */
  async readmit(did: string, grants: readonly Grant[], listed: readonly string[]): Promise<void> {
    const { pins } = await planCut(this.#context, did, { at: listed, except: [] })
    assertFits(this.#context, pins, grants)
    const cut = { key: did, pins: [], readmitted: pins }
    this.cuts.push({ cut, isWhole: false })
    const closed = grants.map((grant) => ({ ...grant, until: cutBlock(cut).cid }))
    this.next = withGrants(this.next, did, closed)
  }
}

/**
 * Returns the roster version that a change comes to. Nothing is written.
 *
 * @throws {HandoffError} `HSTORE_AGENT_UNKNOWN`, `HSTORE_USAGE`, `HSTORE_ROSTER_CONFLICT`.
 */
export async function planChange(context: Context, change: RosterChange): Promise<RosterPlan> {
  const planning = new Planning(context)
  const isChanged = await work(context, planning, change)
  const { next } = planning
  const lines = changesBetween(context.trust.roster, next)
  if (!isChanged || lines.length === 0) return { next: undefined, blocks: [], cuts: [], lines: [] }
  const made = planning.cuts.map(({ cut }) => cut)
  const after = trustAfter(context, next, made)
  const cuts: CutPlan[] = []
  for (const { cut, isWhole } of planning.cuts)
    cuts.push(await tellCut(context, cut, { trust: after, isWhole }))
  return { next, blocks: made.map(cutBlock), cuts, lines }
}

async function work(context: Context, planning: Planning, change: RosterChange): Promise<boolean> {
  switch (change.change) {
    case 'add':
      return addKey(context, planning, change)
    case 'alias':
      return addAlias(context, planning, change)
    case 'read':
      planning.next = withRead(
        planning.next,
        change.agent,
        await readPatterns(context, change.read),
      )
      return true
    case 'grant':
      return grant(planning, change)
    case 'revoke':
      return revoke(context, planning, change)
    case 'remove':
      return remove(planning, change)
    default:
      planning.next = withRoots(planning.next, change)
      return changesBetween(context.trust.roster, planning.next).length > 0
  }
}

async function addKey(
  context: Context,
  planning: Planning,
  change: ChangeOf<'add'>,
): Promise<boolean> {
  const { trust } = context
  const { agent, did, replaces } = change
  assertAgent(agent)
  if (!isDidKey(did))
    throw new HandoffError(
      'HSTORE_USAGE',
      `${quoted(did)} is no did:key: hstore key show prints it`,
    )
  const holder = trust.findKey(did)
  if (holder !== undefined && holder.agent.id !== agent)
    throw conflict(`${did} is a key of ${holder.agent.id} and can't move to ${agent}`)
  const named = trust.roster.agents.find(({ aliases }) => aliases.includes(agent))
  if (named !== undefined)
    throw conflict(`${agent} is an alias of ${named.id}: add the key to ${named.id}`)
  const read = change.read && (await readPatterns(context, change.read))
  assertReads(trust.roster, agent, read)
  const isChanged = takeKey(planning, { ...change, read }, holder?.key)
  if (replaces === undefined) return isChanged
  const old = keyOf(planning.next, agent, replaces.did)
  if (old.grants.every((one) => !isMeant(one, undefined))) {
    // after the same command, nothing is left to do; a new key would get by without the cut that was asked for
    if (!isChanged) return false
    throw conflict(`${old.did} has no grant that is open: add the key without --replaces`)
  }
  await planning.close(replaces.did, replaces.place, undefined)
  return true
}

/** What an agent that is there may read no new key changes. */
function assertReads({ agents }: Roster, id: string, read: readonly string[] | undefined): void {
  const agent = agents.find((one) => one.id === id)
  if (!agent || !read || JSON.stringify(agent.read) === JSON.stringify(read)) return
  throw conflict(`${id} ${readWords(agent.read)}: hstore roster read changes it`)
}

/** Works a key in; of one that is there the level can be lowered, and nothing else changes. */
function takeKey(
  planning: Planning,
  { agent, did, machine, level, grants, read }: ChangeOf<'add'>,
  there: AgentKey | undefined,
): boolean {
  if (there === undefined) {
    const given = sortedGrants(grants.length === 0 ? [everything] : grants)
    const key = { did, level: level ?? 'file', machine, grants: given }
    planning.next = withKey(planning.next, agent, key, read)
    return true
  }
  if (level === undefined || level === there.level) return false
  if (level === 'agent')
    throw conflict(`the level of ${did} is file and can't be raised: give the agent a new key`)
  planning.next = withLevel(planning.next, did, level)
  return true
}

function addAlias(
  { trust }: Context,
  planning: Planning,
  { agent, alias }: ChangeOf<'alias'>,
): boolean {
  if (agentOf(planning.next, agent).aliases.includes(alias)) return false
  const owner = trust.roster.agents.find(({ id, aliases }) => [id, ...aliases].includes(alias))
  if (owner !== undefined)
    throw conflict(`${alias} is a name of ${owner.id} and can't move to ${agent}`)
  planning.next = withAlias(planning.next, agent, alias)
  return true
}

async function grant(
  planning: Planning,
  { agent, did, grants, readmitted }: ChangeOf<'grant'>,
): Promise<boolean> {
  const key = keyOf(planning.next, agent, did)
  const given = grants.length === 0 ? [everything] : grants
  if (readmitted.length > 0) {
    await planning.readmit(did, given, readmitted)
    return true
  }
  const added = given.filter((one) => !key.grants.some((there) => isMeant(there, [one])))
  planning.next = withGrants(planning.next, did, added)
  return added.length > 0
}

async function revoke(
  context: Context,
  planning: Planning,
  { agent, did, which, grants, place }: ChangeOf<'revoke'>,
): Promise<boolean> {
  const key = keyOf(planning.next, agent, did)
  assertHas(key, which)
  const [freeze] = context.trust.freezesOf(did)
  if (!isLeft(key, which, freeze === undefined ? grants : [])) {
    if (isLeft(key, which, []) && !(await isCutThere(context, key, place)))
      throw conflict(
        'what is kept is all that is open: an open grant is for all that a key signs, so nothing can be left out',
      )
    return false
  }
  // the cut would settle it, and leave what else the key may do open
  if (which !== undefined && freeze !== undefined)
    throw conflict(`${did} has frozen itself (${freeze.entry.cid}): close all its grants`)
  await planning.close(did, place, which)
  planning.next = withGrants(planning.next, did, grants)
  return true
}

async function remove(
  planning: Planning,
  { agent, did, place }: ChangeOf<'remove'>,
): Promise<boolean> {
  const { keys } = agentOf(planning.next, agent)
  const meant = did === undefined ? keys : [keyOf(planning.next, agent, did)]
  const open = meant.filter(({ grants }) => grants.some((one) => isMeant(one, undefined)))
  for (const key of open) await planning.close(key.did, place, undefined)
  return open.length > 0
}

/** Returns whether a grant of `which` is open that is not given again. */
function isLeft(
  { grants }: AgentKey,
  which: readonly Grant[] | undefined,
  kept: readonly Grant[],
): boolean {
  return grants.some((one) => isMeant(one, which) && !kept.some((other) => givesSame(other, one)))
}

function assertHas({ did, grants }: AgentKey, which: readonly Grant[] = []): void {
  const missing = which.find((one) => !grants.some((there) => givesSame(there, one)))
  if (missing === undefined) return
  throw conflict(
    `${did} has no grant ${grantTexts(missing).join(' ')}: hstore roster show lists them`,
  )
}

/** What is readmitted by a grant that does not fit it would count no more than before. */
function assertFits(
  { db, marks }: Context,
  cids: readonly CidText[],
  grants: readonly Grant[],
): void {
  const ground = groundIn(db, marks)
  for (const cid of cids) {
    const entry = ground.findEntry(cid)
    if (typeof entry === 'string' || grants.some((grant) => fitsGrant(grant, entry))) continue
    throw new HandoffError(
      'HSTORE_USAGE',
      `${cid} is ${entry.kind} in ${entry.stream}, which no grant that is given fits`,
    )
  }
}

function fitsGrant({ kinds, streams }: Grant, { kind, stream }: Entry): boolean {
  return fitsPattern(kinds, kind) && fitsPattern(streams, stream)
}

function conflict(message: string): HandoffError {
  return new HandoffError('HSTORE_ROSTER_CONFLICT', message)
}
