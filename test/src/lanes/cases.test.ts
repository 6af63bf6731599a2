import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hrcRules } from '../../../src/rules/hrc-rules.ts'
import { laneRules } from '../../../src/rules/lane-rules.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { agents, makeSharedFolder, makeTestStore } from '../../support/store.ts'
import type { Draft, Odds } from './lane-bench.ts'
import { ack, commit, LaneBench, offer, opening, signal, status } from './lane-bench.ts'
import { twoRoots } from './two-roots.ts'

/** An entry of a case; see fixtures/lanes/README.md. */
interface Step {
  readonly is: string
  readonly by: keyof typeof players
  readonly kind: Draft['kind']
  readonly on?: string
  readonly parents?: readonly string[]
  readonly through?: readonly string[]
  readonly refs?: readonly string[]
  readonly held?: 'other'
  readonly alone?: boolean
  readonly after?: string
  readonly to?: keyof typeof players
  readonly offer?: string
  readonly signal?: string
  readonly ack?: string
  readonly set?: Readonly<Record<string, number | string>>
}

interface Case {
  readonly name: string
  readonly entries: readonly Step[]
  readonly at: string
  readonly code: string
  readonly now?: number
  readonly roots?: 2
}

const players = { a: agents.a, b: agents.b, root: agents.merger }
const home = new URL('../../../fixtures/lanes/', import.meta.url)
const cases = JSON.parse(
  readFileSync(fileURLToPath(new URL('cases.json', home)), 'utf8'),
) as readonly Case[]

/** Told of documents, or of an act before an entry is made: no entry reaches them. docs/lanes.md says why. */
const unreached: ReadonlySet<string> = new Set([
  'BLOCKED_UNKNOWN_TRANSITION_KIND',
  'BLOCKED_INVALID_REACHABILITY_SIGNAL',
  'HANDOFF_REQUIRES_REACHABILITY',
  'BLOCKED_PARENT_EXECUTION_MISMATCH',
  'BLOCKED_AUTHORITY_LINEAGE_ESCAPE',
  'BLOCKED_REVOKED_AUTHORITY_EPOCH',
  'BLOCKED_REVOKED_AUTHORITY_OWNER',
  'REVOCATION_PENDING_LIVE_EXECUTIONS',
  'HS4201',
])

let bench: LaneBench
let shared: LaneBench

beforeAll(async () => {
  bench = await LaneBench.open(await makeTestStore(await makeSharedFolder()))
  const store = await makeTestStore(await makeSharedFolder())
  await twoRoots(store)
  shared = await LaneBench.open(store)
})
afterAll(async () => {
  await bench.close()
  await shared.close()
})

describe('a lane of fixtures/lanes', () => {
  it.each(cases.map((one, i) => [one.name, one, `case-${i}`] as const))(
    '%s',
    async (_, { entries, at, code, now, roots }, lane) => {
      const on = roots === 2 ? shared : bench
      const made = new Map<string, CidText>()
      for (const step of entries) made.set(step.is, await sign(on, lane, step, made))
      const cid = made.get(at)!
      if (now === undefined) expect(await on.faultOf(lane, cid)).toBe(code)
      else {
        const { offers } = await on.shown(lane, now)
        expect(offers.find((one) => one.cid === cid)?.status).toBe(code)
      }
    },
  )

  it('trips each rule that entries can trip', () => {
    const tripped = new Set(cases.map(({ code }) => code))
    const wanted = [...hrcRules, ...laneRules]
      .map(({ code }) => code)
      .filter((code) => !unreached.has(code))
    expect([...tripped].sort()).toEqual([...wanted, 'HS3009'].sort())
  })

  it('is told of in docs/lanes.md where no entry reaches a rule', () => {
    const docs = readFileSync(fileURLToPath(new URL('../../docs/lanes.md', home)), 'utf8')
    for (const code of unreached) expect(docs).toContain(`\`${code}\``)
  })
})

function sign(
  on: LaneBench,
  lane: string,
  step: Step,
  made: ReadonlyMap<string, CidText>,
): Promise<CidText> {
  const cid = (name: string): CidText => made.get(name)!
  const set = Object.entries(step.set ?? {}).map(([key, value]) => [
    key,
    typeof value === 'string' && value.startsWith('@') ? cid(value.slice(1)) : value,
  ])
  const turned = { ...drafts[step.kind](lane, step, cid), ...Object.fromEntries(set) } as Draft
  const draft =
    step.held === undefined ? turned : { ...turned, observed: otherBlocks(cid(step.on!)) }
  const parents = step.parents ?? (step.on === undefined ? [] : [step.on])
  const odds: Odds = {
    parents: parents.map(cid),
    ...(step.through === undefined ? {} : { through: step.through.map(cid) }),
    payload: {
      ...(step.alone === true ? { prev: [], seq: 1 } : {}),
      ...(step.after === undefined ? {} : { prev: [cid(step.after)], seq: 2 }),
      ...(step.refs === undefined ? {} : { refs: step.refs.map(cid).sort() }),
    },
  }
  return on.sign(players[step.by], lane, draft, odds)
}

const otherBlocks = (through: CidText) => ({ held: new Uint8Array(32), through: [through] })

type Find = (name: string) => CidText

const drafts: Readonly<Record<Draft['kind'], (lane: string, step: Step, cid: Find) => Draft>> = {
  'lane-open': opening,
  'lane-status': (lane, step, cid) => status(lane, cid(eventOf(step)), 'NEXT'),
  proposal: (lane, step, cid) => offer(lane, cid(eventOf(step)), players[step.to ?? 'b']),
  signal,
  ack: (lane, step, cid) => ack(lane, cid(step.offer!), cid(eventOf(step))),
  'lane-commit': (lane, step, cid) =>
    commit(lane, [cid(step.offer!), cid(step.signal!), cid(step.ack!)]),
  withdraw: (lane, step, cid) => ({
    kind: 'withdraw',
    lane_id: lane,
    proposal: cid(step.offer!),
  }),
  decline: (lane, step, cid) => ({ kind: 'decline', lane_id: lane, proposal: cid(step.offer!) }),
  'lane-join': (lane) => ({
    kind: 'lane-join',
    lane_id: lane,
    ownership_epoch: 1,
    status: 'JOINED',
  }),
  'lane-takeover': (lane) => ({
    kind: 'lane-takeover',
    lane_id: lane,
    ownership_epoch: 2,
    owner_ref: players.b,
    reason: 'gone',
  }),
}

/** As a predecessor a commit has the id of its offer. */
function eventOf({ on }: Step): string {
  return on === 'commit' ? 'offer' : on!
}
