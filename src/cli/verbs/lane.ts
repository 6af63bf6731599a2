import type { LaneReport } from '../../lanes/write.ts'
import type { Store } from '../../open-store.ts'
import { exitOfStatus, exits } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { GlobalOptions, Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

type Options = GlobalOptions & Readonly<Record<string, unknown>>

/** `hstore lane open`. */
export const laneOpen: Verb = acting('lane-open', (store, lane, _, options) =>
  store.lanes.open(lane, textOf(options, 'status')),
)

/** `hstore lane status`. */
export const laneStatus: Verb = acting('lane-status', (store, lane, text) =>
  store.lanes.status(lane, text ?? ''),
)

/** `hstore lane propose`. */
export const lanePropose: Verb = acting('lane-propose', (store, lane, _, options) =>
  store.lanes.propose(lane, {
    to: wanted(options, 'to', 'AGENT'),
    surface: wanted(options, 'surface', 'SURFACE'),
    handoff: textOf(options, 'handoff'),
  }),
)

/** `hstore lane withdraw`. */
export const laneWithdraw: Verb = acting('lane-withdraw', (store, lane, offer) =>
  store.lanes.withdraw(lane, offer),
)

/** `hstore lane decline`. */
export const laneDecline: Verb = acting('lane-decline', (store, lane, offer) =>
  store.lanes.decline(lane, offer),
)

/** `hstore lane signal`. */
export const laneSignal: Verb = acting('lane-signal', (store, lane, _, options) => {
  const status = wanted(options, 'status', 'READY or UNAVAILABLE')
  if (status !== 'READY' && status !== 'UNAVAILABLE')
    throw new UsageError('--status is READY or UNAVAILABLE')
  return store.lanes.signal(lane, {
    surface: wanted(options, 'surface', 'SURFACE'),
    status,
    now: tickOf(options),
    forSeconds: wholeSeconds(wanted(options, 'for', 'SECONDS'), '--for'),
  })
})

/** `hstore lane ack`. */
export const laneAck: Verb = acting('lane-ack', (store, lane, offer) =>
  store.lanes.ack(lane, offer),
)

/** `hstore lane commit`. */
export const laneCommit: Verb = acting('lane-commit', (store, lane, _, options) =>
  store.lanes.commit(lane, {
    now: tickOf(options),
    isNowGiven: options['now'] !== undefined,
    signal: textOf(options, 'signal'),
    ack: textOf(options, 'ack'),
  }),
)

/** `hstore lane join`. */
export const laneJoin: Verb = acting('lane-join', (store, lane, _, options) =>
  store.lanes.join(lane, textOf(options, 'status')),
)

/** `hstore lane takeover`. */
export const laneTakeover: Verb = acting('lane-takeover', (store, lane, _, options) =>
  store.lanes.takeover(lane, wanted(options, 'to', 'AGENT'), wanted(options, 'reason', 'TEXT')),
)

type Act = (
  store: Store,
  lane: string,
  word: string | undefined,
  options: Options,
) => Promise<LaneReport>

function acting(schema: string, act: Act): Verb {
  return async (io, [lane = '', word], options) => {
    await using store = await openNamed(io, options)
    const report = await act(store, lane, word, options)
    return tell(io, schema, report, options)
  }
}

async function tell(
  io: Io,
  schema: string,
  report: LaneReport,
  { json }: Options,
): Promise<number> {
  if (json === true) await io.out(jsonLine(schema, report))
  else if (report.cid !== null) await io.out(`${report.cid}\n`)
  const text = answerText(report)
  if (json !== true && text !== 'RECORDED') io.err(`hstore: ${plain(text)}\n`)
  return exitOf(report)
}

/** What to do where an answer asks for more. */
const hints: Readonly<Partial<Record<LaneReport['status'], string>>> = {
  BLOCKED_UNREAD_PREDECESSOR: 'hstore lane read hands out what is not read yet',
  HANDOFF_REQUIRES_REACHABILITY:
    'the addressee has to signal, read and ack; then hstore lane commit',
  PENDING_REACHABILITY_UNCHECKED: 'the addressee has not signalled with hstore lane signal',
  PENDING_RECIPIENT_ACK: 'the addressee has not accepted with hstore lane ack',
  PENDING_UNREACHABLE: 'the addressee has to signal again',
}

function answerText({ status, detail, why, cid, new: isNew }: LaneReport): string {
  const words = [
    ...Object.entries(detail).map(([key, value]) => `${key} ${String(value)}`),
    ...(why === null ? [] : [why]),
    ...(cid !== null && !isNew ? ['it was there already'] : []),
    ...(hints[status] === undefined ? [] : [hints[status]]),
  ]
  return words.length === 0 ? status : `${status}: ${words.join(', ')}`
}

/** What stands is a yes, whatever else is still to come. */
function exitOf({ status, detail, cid }: LaneReport): number {
  const { signed, needed } = detail
  if (typeof signed === 'number' && typeof needed === 'number' && signed < needed)
    return exits.pending
  return status === 'RECORDED' || cid !== null ? exits.ok : exitOfStatus(status)
}

/** How far a given tick may be off the clock, in seconds. */
const toleranceSeconds = 300

/** Entries carry ticks that others judge by: one that is far from the clock is none of this machine's. */
function tickOf({ now }: Options): number {
  const clock = Math.floor(Date.now() / 1000)
  if (now === undefined) return clock
  const tick = wholeSeconds(now, '--now')
  if (Math.abs(tick - clock) <= toleranceSeconds) return tick
  throw new UsageError(
    `--now ${tick} is more than ${toleranceSeconds} seconds off the clock (${clock}): an entry with it would not be signed`,
  )
}

function wholeSeconds(text: unknown, name: string): number {
  const seconds = typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(seconds)) return seconds
  throw new UsageError(`${name} is a number of whole seconds`)
}

function textOf(options: Options, name: string): string | undefined {
  return options[name] as string | undefined
}

function wanted(options: Options, name: string, what: string): string {
  const value = textOf(options, name)
  if (value !== undefined) return value
  throw new UsageError(`--${name} ${what} is missing`)
}
