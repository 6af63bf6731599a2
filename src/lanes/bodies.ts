import type { JsonForm } from '../../store/canonical.ts'
import { bytesForm, findBytes, findLink, linkForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'
import type { Tick } from '../contracts/hrc/documents.ts'
import { isAgentId, isPlainText } from '../entry/text.ts'

/** What a signer had read of a lane, and what shows it. See docs/format.md, «Lanes». */
export interface Observed {
  /** SHA-256, 32 bytes. */
  readonly held: Uint8Array
  /** The ends of what was read, sorted. */
  readonly through: readonly CidText[]
}

interface OfLane {
  readonly lane_id: string
}

/** What a step rests on: who takes it, and which predecessor its writer has read. */
interface Step extends OfLane {
  readonly writer_ownership_epoch: number
  readonly observed_through_event_id: CidText
  readonly expected_predecessor_id: CidText
  readonly observed: Observed
}

interface OnOffer extends OfLane {
  readonly proposal: CidText
}

/** The bodies of a lane's entries, by kind; HRC-001's names verbatim, without what the entry says itself. */
export interface LaneBodies {
  'lane-open': OfLane & { readonly ownership_epoch: number; readonly status: string }
  'lane-status': Step & { readonly next_status: string }
  'lane-commit': OfLane & {
    /** The epoch that the commit closes. */
    readonly ownership_epoch: number
    readonly proposal: CidText
    readonly signal: CidText
    readonly ack: CidText
    /** When it was judged; a replay judges by it too. */
    readonly tick: Tick
  }
  'lane-join': OfLane & { readonly ownership_epoch: number; readonly status: string }
  'lane-takeover': OfLane & {
    /** The epoch that the takeover opens. */
    readonly ownership_epoch: number
    readonly owner_ref: string
    readonly reason: string
  }
  proposal: Step & {
    readonly target_owner_ref: string
    readonly target_ownership_epoch: number
    readonly reachability_surface_ref: string
    /** The entry that is handed over. */
    readonly handoff?: CidText
  }
  withdraw: OnOffer
  decline: OnOffer
  signal: OfLane & {
    readonly surface_ref: string
    readonly status: 'READY' | 'UNAVAILABLE'
    readonly observed_at_tick: Tick
    readonly valid_until_tick: Tick
  }
  ack: OfLane & {
    readonly accepted_handoff_event_id: CidText
    readonly accepted_ownership_epoch: number
    readonly observed_predecessor_id: CidText
    readonly observed: Observed
  }
}

/** A kind of entry that stands in a lane. */
export type LaneKind = keyof LaneBodies

/** A body together with its kind. */
export type LaneBody<K extends LaneKind = LaneKind> = {
  [P in K]: { readonly kind: P } & LaneBodies[P]
}[K]

type FormMap = { readonly [key: string]: JsonForm }

/** How a field is read and written; what is read as undefined does not fit. */
interface Field {
  read(form: JsonForm): unknown
  write(value: never): JsonForm
}

const maxTextBytes = 4096
const plain = (fits: (form: JsonForm) => boolean): Field => ({
  read: (form) => (fits(form) ? form : undefined),
  write: (value: JsonForm) => value,
})
const text = plain(
  (form) => typeof form === 'string' && form !== '' && Buffer.byteLength(form) <= maxTextBytes,
)
const laneId = plain((form) => isPlainText(form, 1024))
const agent = plain(isAgentId)
const tick = plain((form) => typeof form === 'number' && form >= 0)
const epoch = plain((form) => typeof form === 'number' && form >= 1)
const readiness = plain((form) => form === 'READY' || form === 'UNAVAILABLE')
const link: Field = { read: readLink, write: (value: CidText) => linkForm(value) }
const observed: Field = { read: readObserved, write: writeObserved }

const step: Readonly<Record<string, Field>> = {
  writer_ownership_epoch: epoch,
  observed_through_event_id: link,
  expected_predecessor_id: link,
  observed,
}

const schemas: Readonly<Record<LaneKind, Readonly<Record<string, Field>>>> = {
  'lane-open': { ownership_epoch: plain((form) => form === 1), status: text },
  'lane-status': { ...step, next_status: text },
  'lane-commit': { ownership_epoch: epoch, proposal: link, signal: link, ack: link, tick },
  'lane-join': { ownership_epoch: epoch, status: text },
  'lane-takeover': { ownership_epoch: epoch, owner_ref: agent, reason: text },
  proposal: {
    ...step,
    target_owner_ref: agent,
    target_ownership_epoch: epoch,
    reachability_surface_ref: text,
    handoff: link,
  },
  withdraw: { proposal: link },
  decline: { proposal: link },
  signal: {
    surface_ref: text,
    status: readiness,
    observed_at_tick: tick,
    valid_until_tick: tick,
  },
  ack: {
    accepted_handoff_event_id: link,
    accepted_ownership_epoch: epoch,
    observed_predecessor_id: link,
    observed,
  },
}

const optional: ReadonlySet<string> = new Set(['handoff'])

/** Returns whether entries of a kind stand in lanes. */
export function isLaneKind(kind: string): kind is LaneKind {
  return Object.hasOwn(schemas, kind)
}

/** Returns the body that a form holds, read as an entry of `kind` wants it, or what is wrong with it. */
export function readLaneBody(kind: LaneKind, form: FormMap): LaneBody | { readonly fault: string } {
  const schema: Readonly<Record<string, Field>> = { lane_id: laneId, ...schemas[kind] }
  const odd = Object.keys(form).find((key) => !Object.hasOwn(schema, key))
  if (odd !== undefined) return { fault: `has a key that is none of a ${kind}` }
  const body: Record<string, unknown> = { kind }
  for (const [key, field] of Object.entries(schema)) {
    if (!Object.hasOwn(form, key)) {
      if (optional.has(key)) continue
      return { fault: `has no ${key}` }
    }
    const value = field.read(form[key]!)
    if (value === undefined) return { fault: `has a ${key} that does not fit` }
    body[key] = value
  }
  return body as unknown as LaneBody
}

/** Returns a body in canonical form. */
export function laneForm({ kind, ...body }: LaneBody): { [key: string]: JsonForm } {
  const schema: Readonly<Record<string, Field>> = { lane_id: laneId, ...schemas[kind] }
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => [key, schema[key]!.write(value as never)]),
  )
}

/** Returns the entries that a body names as what it rests on: exactly these are the entry's `refs`, sorted. */
export function refsOf(body: LaneBody): readonly CidText[] {
  switch (body.kind) {
    case 'lane-commit':
      return [...new Set([body.proposal, body.signal, body.ack])].sort()
    case 'proposal':
      return body.handoff === undefined ? [] : [body.handoff]
    case 'withdraw':
    case 'decline':
      return [body.proposal]
    case 'ack':
      return [body.accepted_handoff_event_id]
    default:
      return []
  }
}

/** Returns the name of an entry with this body; undefined where the kind has none. */
export function nameOf(body: LaneBody): string | undefined {
  const isNamed =
    body.kind === 'lane-open' || body.kind === 'lane-commit' || body.kind === 'lane-takeover'
  return isNamed ? String(body.ownership_epoch) : undefined
}

/** Returns what a signer says that it has read, where a body says so. */
export function observedIn(body: LaneBody): Observed | undefined {
  return 'observed' in body ? body.observed : undefined
}

function readLink(form: JsonForm): CidText | undefined {
  const found = findLink(form)
  return found !== undefined && codecOf(found) === 'dag-json' ? found : undefined
}

function readObserved(form: JsonForm): Observed | undefined {
  if (typeof form !== 'object' || form === null || Array.isArray(form)) return undefined
  if (Object.keys(form).length !== 2) return undefined
  const held = findBytes(form['held'])
  const list = form['through']
  if (held?.length !== 32 || !Array.isArray(list) || list.length === 0) return undefined
  const through = list.map(readLink)
  const isSorted = through.every(
    (cid, i) => cid !== undefined && (i === 0 || through[i - 1]! < cid),
  )
  return isSorted ? { held, through: through as CidText[] } : undefined
}

function writeObserved({ held, through }: Observed): JsonForm {
  return { held: bytesForm(held), through: through.map(linkForm) }
}
