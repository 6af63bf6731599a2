import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { HrcStage } from '../../../src/contracts/hrc/evaluate-files.ts'
import type { HrcDocuments } from './cases.ts'
import { answerOf, exampleNow, exitCodes, readExample } from './cases.ts'

type Loose = Readonly<Record<string, unknown>>

interface Given {
  readonly state: Loose
  readonly proposal: Loose
  readonly signal: Loose | undefined
  readonly ack: Loose | undefined
  readonly now: number
}

/** A rule: its place in the contract, what it answers, and what of the documents it tells. */
type Row = readonly [
  stage: HrcStage,
  status: string,
  holds: (given: Given) => boolean,
  detail: (given: Given) => Loose,
]

const none = (): Loose => ({})
const integer = (value: unknown): boolean => typeof value === 'number' && Number.isInteger(value)

/** The contract as one list: whichever row comes first and holds is the answer. */
const contract: readonly Row[] = [
  [
    'transition',
    'BLOCKED_LANE_MISMATCH',
    ({ state: s, proposal: p }) => s['lane_id'] !== p['lane_id'],
    none,
  ],
  [
    'transition',
    'BLOCKED_WRITER_NOT_OWNER',
    ({ state: s, proposal: p }) => s['owner_ref'] !== p['writer_ref'],
    none,
  ],
  [
    'transition',
    'BLOCKED_OWNERSHIP_EPOCH_MISMATCH',
    ({ state: s, proposal: p }) => s['ownership_epoch'] !== p['writer_ownership_epoch'],
    none,
  ],
  [
    'transition',
    'BLOCKED_UNREAD_PREDECESSOR',
    ({ proposal: p }) => p['observed_through_event_id'] !== p['expected_predecessor_id'],
    ({ proposal: p }) => pick(p, 'observed_through_event_id', 'expected_predecessor_id'),
  ],
  [
    'transition',
    'BLOCKED_CAS_CONFLICT',
    ({ state: s, proposal: p }) => s['head_event_id'] !== p['expected_predecessor_id'],
    ({ state: s, proposal: p }) => ({
      ...pick(p, 'expected_predecessor_id'),
      current_head_event_id: s['head_event_id'],
    }),
  ],
  [
    'transition',
    'STATUS_TRANSITION_ALLOWED',
    ({ proposal: p }) => p['transition_kind'] === 'STATUS',
    ({ proposal: p }) => pick(p, 'next_event_id'),
  ],
  [
    'transition',
    'BLOCKED_UNKNOWN_TRANSITION_KIND',
    ({ proposal: p }) => p['transition_kind'] !== 'HANDOFF',
    none,
  ],
  [
    'handoff',
    'BLOCKED_INVALID_HANDOFF_EPOCH',
    ({ state: s, proposal: p }) =>
      [undefined, null, ''].includes(p['target_owner_ref'] as string) ||
      p['target_ownership_epoch'] !== (s['ownership_epoch'] as number) + 1,
    none,
  ],
  [
    'handoff',
    'PENDING_REACHABILITY_UNCHECKED',
    ({ signal }) => signal === undefined,
    ({ proposal: p }) => pick(p, 'target_owner_ref'),
  ],
  [
    'handoff',
    'BLOCKED_REACHABILITY_PARTICIPANT_MISMATCH',
    ({ proposal: p, signal: r }) => r?.['participant_ref'] !== p['target_owner_ref'],
    none,
  ],
  [
    'handoff',
    'BLOCKED_REACHABILITY_NOT_SURFACED',
    ({ proposal: p, signal: r }) => r?.['surface_ref'] !== p['reachability_surface_ref'],
    none,
  ],
  [
    'handoff',
    'BLOCKED_INVALID_REACHABILITY_SIGNAL',
    ({ signal: r }) => !integer(r?.['observed_at_tick']) || !integer(r?.['valid_until_tick']),
    none,
  ],
  [
    'handoff',
    'BLOCKED_FUTURE_REACHABILITY_SIGNAL',
    ({ signal: r, now }) => Number(r?.['observed_at_tick']) > now,
    none,
  ],
  [
    'handoff',
    'PENDING_UNREACHABLE',
    ({ signal: r, now }) => Number(r?.['valid_until_tick']) < now,
    () => ({ reason: 'reachability_signal_expired' }),
  ],
  [
    'handoff',
    'PENDING_UNREACHABLE',
    ({ signal: r }) => r?.['status'] !== 'READY',
    ({ signal: r }) => ({ reason: String(r?.['status']).toLowerCase() }),
  ],
  ['commit', 'PENDING_RECIPIENT_ACK', ({ ack }) => ack === undefined, none],
  [
    'commit',
    'BLOCKED_ACK_LANE_MISMATCH',
    ({ state: s, ack: k }) => k?.['lane_id'] !== s['lane_id'],
    none,
  ],
  [
    'commit',
    'BLOCKED_ACK_RECIPIENT_MISMATCH',
    ({ proposal: p, ack: k }) => k?.['recipient_ref'] !== p['target_owner_ref'],
    none,
  ],
  [
    'commit',
    'BLOCKED_ACK_EVENT_MISMATCH',
    ({ proposal: p, ack: k }) => k?.['accepted_handoff_event_id'] !== p['next_event_id'],
    none,
  ],
  [
    'commit',
    'BLOCKED_ACK_EPOCH_MISMATCH',
    ({ proposal: p, ack: k }) => k?.['accepted_ownership_epoch'] !== p['target_ownership_epoch'],
    none,
  ],
  [
    'commit',
    'BLOCKED_ACK_STALE_PREDECESSOR',
    ({ state: s, ack: k }) => k?.['observed_predecessor_id'] !== s['head_event_id'],
    none,
  ],
]

const ends: Readonly<Record<HrcStage, readonly [string, (given: Given) => Loose]>> = {
  transition: ['HANDOFF_REQUIRES_REACHABILITY', none],
  handoff: [
    'HANDOFF_DELIVERABLE',
    ({ proposal: p, signal: r }) => ({
      ...pick(p, 'target_owner_ref', 'target_ownership_epoch'),
      reachability_signal_id: r?.['signal_id'],
    }),
  ],
  commit: [
    'HANDOFF_COMMIT_ALLOWED',
    ({ proposal: p }) => ({
      new_owner_ref: p['target_owner_ref'],
      new_ownership_epoch: p['target_ownership_epoch'],
      new_head_event_id: p['next_event_id'],
    }),
  ],
}

const stages = ['transition', 'handoff', 'commit'] as const

function pick(document: Loose, ...keys: readonly string[]): Loose {
  return Object.fromEntries(keys.map((key) => [key, document[key]]))
}

function secondAnswer(stage: HrcStage, given: Given): object {
  const reached = stages.slice(0, stages.indexOf(stage) + 1)
  const row = contract.find(([of, , holds]) => reached.includes(of) && holds(given))
  const [status, detail] = row === undefined ? ends[stage] : [row[1], row[3]]
  return { status, detail: detail(given) }
}

const base = readExample()
const words = ['tide-gauge', 'csag:agent/merger', 'csag:agent/agent-a', 'event-7', 'event-8', 'x']
const odd = fc.oneof(
  fc.constantFrom<unknown>(...words, 1, 2, 3, 1.5, '2', true, null, undefined),
  fc.constantFrom<unknown>('STATUS', 'HANDOFF', 'READY', 'UNAVAILABLE', exampleNow, exampleNow + 1),
)

/** A document of the example with up to two properties changed. */
function changed(document: object): fc.Arbitrary<Loose> {
  const change = fc.tuple(fc.constantFrom(...Object.keys(document)), odd)
  return fc
    .array(change, { maxLength: 2 })
    .map((changes) => ({ ...document, ...Object.fromEntries(changes) }))
}

const perhaps = (document: object): fc.Arbitrary<Loose | undefined> =>
  fc.option(changed(document), { nil: undefined, freq: 8 })

const given: fc.Arbitrary<Given> = fc.record({
  state: fc.oneof({ weight: 4, arbitrary: fc.constant({ ...base.state }) }, changed(base.state)),
  proposal: fc.oneof(
    { weight: 3, arbitrary: fc.constant({ ...base.proposal }) },
    changed(base.proposal),
  ),
  signal: perhaps(base.signal),
  ack: perhaps(base.ack),
  now: fc.constantFrom(
    exampleNow,
    base.signal.observed_at_tick - 1,
    base.signal.valid_until_tick,
    base.signal.valid_until_tick + 1,
  ),
})

describe('the first rule that holds decides', () => {
  it('as a list of the rules says, whatever the documents', () => {
    const met = new Set<string>()
    fc.assert(
      fc.property(given, fc.constantFrom(...stages), (one, stage) => {
        const answer = answerOf(stage, one as unknown as HrcDocuments, one.now)
        met.add(answer.status)
        expect(answer).toEqual(secondAnswer(stage, one))
      }),
      { numRuns: 20_000, seed: 1 },
    )
    expect([...met].sort()).toEqual(Object.keys(exitCodes).sort())
  })
})
