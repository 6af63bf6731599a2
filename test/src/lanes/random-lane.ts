import { createHash } from 'node:crypto'
import type { CidText } from '../../../store/cid-text.ts'
import type { LaneBodies, LaneBody, LaneKind } from '../../../src/lanes/bodies.ts'
import { nameOf, refsOf } from '../../../src/lanes/bodies.ts'
import { Folding } from '../../../src/lanes/fold.ts'
import { LinkGraph } from '../../../src/lanes/graph.ts'
import type { LaneItem, LaneRoots } from '../../../src/lanes/item.ts'
import { ofKind } from '../../../src/lanes/item.ts'
import type { HeldView, View } from '../../../src/lanes/view.ts'
import type { Dice } from '../turns/dice.ts'
import { diceOf } from '../turns/dice.ts'

const lane = 'quay'
const agents = ['ada', 'ben', 'cy'] as const

/** The roots of every random lane: two of three holders. */
export const roots: LaneRoots = {
  holders: new Map([
    ['ada-1', 'ada'],
    ['ben-1', 'ben'],
    ['cy-1', 'cy'],
  ]),
  threshold: 2,
}

interface Machine {
  readonly agent: string
  readonly signer: string
  readonly has: Map<CidText, LaneItem>
}

/**
 * Returns the entries of a lane that six machines of three agents write at once, each with a store of its own that now
 * and then hears from another: offers, withdrawals, handoffs, forks and takeovers, most of them rightly made and some
 * with a field turned.
 */
export function randomLane(seed: number): readonly LaneItem[] {
  const dice = diceOf(`lane ${seed}`)
  const machines = agents.flatMap((agent) =>
    [1, 2].map((n): Machine => ({ agent, signer: `${agent}-${n}`, has: new Map() })),
  )
  const all = new Map<CidText, LaneItem>()
  const steps = 14 + dice.below(44)
  // some lanes are written side by side, others apart
  const nearness = 1 + dice.below(5)
  if (seed % 3 === 0) crossing(dice, machines, all, `${seed}`)
  for (let step = all.size; step < steps; step++) {
    const owner = dice.below(2) === 0 ? ownerOf(all) : undefined
    const near = machines.filter(({ agent }) => owner === undefined || agent === owner)
    const machine = step === 0 ? machines[0]! : dice.pick(near)
    for (const other of machines) {
      if (dice.below(6) < nearness) for (const [cid, item] of other.has) machine.has.set(cid, item)
    }
    const made = nextItem(dice, machine, `${seed} ${step}`)
    if (made === undefined) continue
    machine.has.set(made.entry.cid, made)
    all.set(made.entry.cid, made)
  }
  return [...all.values()]
}

function ownerOf(items: ReadonlyMap<CidText, LaneItem>): string | undefined {
  const folding = new Folding(lane, items.values(), roots)
  const view = folding.viewAmong(folding.graph.order)
  return view?.standing === 'held' ? view.owner : undefined
}

function nextItem(dice: Dice, machine: Machine, id: string): LaneItem | undefined {
  const folding = new Folding(lane, machine.has.values(), roots)
  const view = folding.viewAmong(folding.graph.order)
  if (view === undefined)
    return machine.has.size === 0 && id.endsWith(' 0')
      ? makeItem(machine, id, open(dice), [])
      : undefined
  // a second opening is rare, else nothing but contested lanes comes out
  if (dice.below(150) === 0) return makeItem(machine, id, open(dice), [])
  const nodes = [...folding.placed.keys()]
  if (view.standing === 'contested' || dice.below(120) === 0) {
    if (!roots.holders.has(machine.signer) && dice.below(8) > 0) return undefined
    const epoch = 1 + Math.max(...[...folding.placed.values()].map((node) => node.epoch))
    const begun = [...folding.faults.keys()]
      .map((cid) => ofKind(folding.items.get(cid), 'lane-takeover'))
      .find((item) => item !== undefined)
    if (begun !== undefined && dice.below(3) > 0)
      return makeItem(machine, id, begun.body, begun.entry.parents)
    const body = turned(dice, {
      kind: 'lane-takeover',
      lane_id: lane,
      ownership_epoch: epoch,
      owner_ref: dice.pick(agents),
      reason: 'because',
    } satisfies LaneBody)
    return makeItem(machine, id, body, folding.graph.ends(nodes))
  }
  const body = bodyOf(dice, folding, view, machine)
  if (body === undefined) return undefined
  return makeItem(machine, id, turned(dice, body), parentsOf(dice, folding, view, body))
}

function endsOf({ graph }: Folding): readonly CidText[] {
  return graph.ends(graph.order)
}

function open(dice: Dice): LaneBody {
  return { kind: 'lane-open', lane_id: lane, ownership_epoch: 1, status: `S${dice.below(2)}` }
}

function parentsOf(
  dice: Dice,
  folding: Folding,
  view: HeldView,
  body: LaneBody,
): readonly CidText[] {
  if (dice.below(12) === 0) return [dice.pick([...folding.items.keys()])]
  if (body.kind === 'lane-join') {
    const nodes = [...view.heads, ...view.branches].filter(() => dice.below(5) > 0)
    return nodes.map(({ entries }) => dice.pick(entries))
  }
  return [dice.pick(dice.pick(view.heads).entries)]
}

const kinds = [
  'lane-status',
  'lane-join',
  'proposal',
  'proposal',
  'ack',
  'ack',
  'signal',
  'lane-commit',
  'lane-commit',
  'lane-commit',
  'withdraw',
  'decline',
] as const

/** Mostly what this machine's agent may do now; its second machine is the one that interferes. */
function kindsFor(
  dice: Dice,
  folding: Folding,
  view: HeldView,
  { agent, signer }: Machine,
): readonly (typeof kinds)[number][] {
  if (dice.below(10) === 0) return kinds
  const open = openOffer(folding, view)
  if (agent !== view.owner) {
    if (open?.body.target_owner_ref !== agent) return ['signal']
    return ['ack', 'ack', 'ack', 'ack', 'signal', 'signal', 'signal', 'decline']
  }
  if (open !== undefined) {
    if (signer.endsWith('-2')) return ['lane-status', 'lane-status', 'lane-commit', 'withdraw']
    const commits = [
      'lane-commit',
      'lane-commit',
      'lane-commit',
      'lane-commit',
      'lane-commit',
    ] as const
    return [...commits, 'withdraw', 'lane-status', 'proposal']
  }
  const isLoose = view.heads.length + view.branches.length > 1
  return isLoose
    ? ['lane-join', 'lane-join', 'lane-status']
    : ['proposal', 'proposal', 'lane-status']
}

function openOffer(folding: Folding, view: HeldView): LaneItem<'proposal'> | undefined {
  return folding.offersAmong(folding.graph.order, view).find(({ ends }) => ends.length === 0)?.item
}

/** What a body is made of. */
interface World {
  readonly dice: Dice
  readonly view: HeldView
  readonly agent: string
  readonly offer: LaneItem<'proposal'> | undefined
  /** The ends of what this machine has. */
  readonly ends: readonly CidText[]
  find<K extends LaneKind>(kind: K): readonly LaneItem<K>[]
}

function bodyOf(
  dice: Dice,
  folding: Folding,
  view: HeldView,
  machine: Machine,
): LaneBody | undefined {
  const { agent } = machine
  const find: World['find'] = (kind) =>
    [...folding.items.values()]
      .map((item) => ofKind(item, kind))
      .filter((item) => item !== undefined)
  const offers = find('proposal')
  const open = dice.below(12) > 0 ? openOffer(folding, view) : undefined
  const offer = open ?? (dice.below(3) > 0 ? offers.at(-1) : dice.pick(offers))
  return makers[dice.pick(kindsFor(dice, folding, view, machine))]({
    dice,
    view,
    agent,
    offer,
    ends: endsOf(folding),
    find,
  })
}

const makers: Readonly<Record<(typeof kinds)[number], (world: World) => LaneBody | undefined>> = {
  'lane-status': (world) => ({
    kind: 'lane-status',
    ...stepOf(world),
    next_status: `S${world.dice.below(3)}`,
  }),
  'lane-join': ({ view }) => ({
    kind: 'lane-join',
    lane_id: lane,
    ownership_epoch: view.epoch,
    status: 'joined',
  }),
  proposal: (world) => ({
    kind: 'proposal',
    ...stepOf(world),
    target_owner_ref: world.dice.pick(agents),
    target_ownership_epoch: world.view.epoch + 1,
    reachability_surface_ref: 'board',
  }),
  ack: (world) =>
    world.offer && {
      kind: 'ack',
      lane_id: lane,
      accepted_handoff_event_id: world.offer.entry.cid,
      accepted_ownership_epoch: world.offer.body.target_ownership_epoch,
      observed_predecessor_id: world.offer.body.expected_predecessor_id,
      observed: stepOf(world).observed,
    },
  signal: ({ dice }) => ({
    kind: 'signal',
    lane_id: lane,
    surface_ref: 'board',
    status: dice.below(8) === 0 ? 'UNAVAILABLE' : 'READY',
    observed_at_tick: dice.below(20),
    valid_until_tick: 30 + dice.below(20),
  }),
  'lane-commit': commitOf,
  withdraw: ({ dice, offer }) =>
    dice.below(3) > 0
      ? offer && { kind: 'withdraw', lane_id: lane, proposal: offer.entry.cid }
      : undefined,
  decline: ({ agent, offer }) =>
    offer?.body.target_owner_ref === agent
      ? { kind: 'decline', lane_id: lane, proposal: offer.entry.cid }
      : undefined,
}

function stepOf({ dice, view, ends }: World) {
  const head = dice.pick(view.heads).event
  return {
    lane_id: lane,
    writer_ownership_epoch: view.epoch,
    observed_through_event_id: head,
    expected_predecessor_id: head,
    observed: { held: new Uint8Array(32), through: dice.below(2) === 0 ? [head] : ends },
  }
}

function commitOf({ dice, view, offer, ...world }: World): LaneBody | undefined {
  if (offer === undefined) return undefined
  const { target_owner_ref: to } = offer.body
  const isOdd = dice.below(8) === 0
  const signal = world.find('signal').find(({ entry }) => isOdd || entry.author === to)
  const ack = world.find('ack').find(({ entry, body }) => {
    const isOurs = body.accepted_handoff_event_id === offer.entry.cid
    return isOurs && (isOdd || entry.author === to)
  })
  if (signal === undefined || ack === undefined) return undefined
  const since = dice.below(6) === 0 ? 0 : Math.max(0, view.tick - 20)
  return {
    kind: 'lane-commit',
    lane_id: lane,
    ownership_epoch: view.epoch,
    proposal: offer.entry.cid,
    signal: signal.entry.cid,
    ack: ack.entry.cid,
    tick: 20 + dice.below(4) + since,
  }
}

/** A handoff that is ready to be committed, and the second machine of its owner, which has not heard of the commit. */
function crossing(
  dice: Dice,
  machines: readonly Machine[],
  all: Map<CidText, LaneItem>,
  id: string,
): void {
  const [first, second, addressee] = machines as [Machine, Machine, Machine]
  const put = (
    machine: Machine,
    kind: (typeof kinds)[number] | 'lane-open',
    near: Machine[],
  ): void => {
    const folding = new Folding(lane, machine.has.values(), roots)
    const view = folding.viewAmong(folding.graph.order)
    const body = kind === 'lane-open' ? open(dice) : madeOf(kind, { dice, folding, view, machine })
    if (body === undefined) return
    const parents = view?.standing === 'held' ? view.heads[0]!.entries.slice(0, 1) : []
    const item = makeItem(machine, `${id} before ${all.size}`, body, parents)
    all.set(item.entry.cid, item)
    for (const one of [machine, ...near]) one.has.set(item.entry.cid, item)
  }
  const near = [first, second, addressee]
  put(first, 'lane-open', near)
  put(first, 'proposal', near)
  put(addressee, 'signal', near)
  put(addressee, 'ack', near)
  put(first, 'lane-commit', [addressee])
  put(second, dice.pick(['lane-status', 'lane-commit', 'proposal']), [])
}

function madeOf(
  kind: (typeof kinds)[number],
  {
    dice,
    folding,
    view,
    machine: { agent },
  }: { dice: Dice; folding: Folding; view: View; machine: Machine },
): LaneBody | undefined {
  if (view?.standing !== 'held') return undefined
  const find: World['find'] = (wanted) =>
    [...folding.items.values()]
      .map((item) => ofKind(item, wanted))
      .filter((item) => item !== undefined)
  const body = makers[kind]({
    dice,
    view,
    agent,
    offer: openOffer(folding, view),
    ends: endsOf(folding),
    find,
  })
  return body?.kind === 'proposal' ? { ...body, target_owner_ref: agents[1] } : body
}

/** Returns a body as it is, or now and then with a number one off. */
function turned(dice: Dice, body: LaneBody): LaneBody {
  if (dice.below(30) > 0) return body
  const numbers = Object.entries(body).filter(([, value]) => typeof value === 'number')
  if (numbers.length === 0) return body
  const [key, value] = dice.pick(numbers) as [string, number]
  return { ...body, [key]: value + 1 }
}

/** Each machine is a signer: its entries form a chain, and it writes for its agent. */
function makeItem(
  { agent, signer, has }: Machine,
  id: string,
  body: LaneBody,
  parents: readonly CidText[],
): LaneItem {
  const dice = diceOf(`item ${id}`)
  const author = dice.below(60) === 0 ? dice.pick(agents) : agent
  const own = [...has.values()].filter(({ entry }) => entry.signer === signer)
  const links = new LinkGraph(
    own.map(({ entry }) => entry),
    ({ prev }) => prev,
  )
  const refs = dice.below(80) === 0 ? [] : refsOf(body)
  const sorted = [...new Set(parents)].sort()
  const rests = [...sorted, ...refs]
  const cid = cidOf(id)
  return {
    entry: {
      author,
      body: cidOf(JSON.stringify(bodyKey(body))),
      cid,
      kind: body.kind,
      name: dice.below(80) === 0 ? '7' : nameOf(body),
      parents: sorted,
      prev: links.ends(own.map(({ entry }) => entry.cid)),
      refs,
      signer: signer as LaneItem['entry']['signer'],
    },
    body,
    isHeld: dice.below(60) > 0,
    reads: new Set(rests.filter(() => dice.below(60) > 0)),
  }
}

function bodyKey({ kind, ...body }: LaneBody): Partial<LaneBodies[LaneKind]> & { kind: string } {
  return { ...body, kind }
}

function cidOf(text: string): CidText {
  return `b${createHash('sha256').update(text).digest('hex').slice(0, 16)}` as CidText
}
