import { quoted } from '../../kernel/shown.ts'
import type { Finding } from '../../rules/rule.ts'
import { pointerOf } from '../csag/finding.ts'

/** The four documents of HRC-001, and that of ORC-001. */
export type HrcKind = 'ack' | 'execution' | 'proposal' | 'reachability' | 'state'

/** What a property holds: text of at least 1 character (or null), an integer from 0 on, or one of these words. */
type Form = 'count' | 'text' | 'text or null' | readonly string[]

interface Schema {
  readonly forms: ReadonlyMap<string, Form>
  /** The properties that a document has to have. */
  readonly required: (document: object) => readonly string[]
}

const proposalForms = {
  schema_version: ['hrc-proposal/0.1'],
  proposal_id: 'text',
  lane_id: 'text',
  transition_kind: ['STATUS', 'HANDOFF'],
  writer_ref: 'text',
  writer_ownership_epoch: 'count',
  observed_through_event_id: 'text',
  expected_predecessor_id: 'text',
  next_event_id: 'text',
} as const

const statusForms = { next_status: 'text' } as const

const handoffForms = {
  target_owner_ref: 'text',
  target_ownership_epoch: 'count',
  reachability_surface_ref: 'text',
} as const

const schemas: Readonly<Record<HrcKind, Schema>> = {
  state: closed({
    schema_version: ['hrc-state/0.1'],
    lane_id: 'text',
    owner_ref: 'text',
    ownership_epoch: 'count',
    head_event_id: 'text',
    status: 'text',
  }),
  proposal: {
    forms: new Map(Object.entries({ ...proposalForms, ...statusForms, ...handoffForms })),
    required: (document) => [
      ...Object.keys(proposalForms),
      ...Object.keys(isKind(document, 'STATUS') ? statusForms : {}),
      ...Object.keys(isKind(document, 'HANDOFF') ? handoffForms : {}),
    ],
  },
  reachability: closed({
    schema_version: ['hrc-reachability/0.1'],
    signal_id: 'text',
    participant_ref: 'text',
    surface_ref: 'text',
    status: ['READY', 'UNAVAILABLE'],
    observed_at_tick: 'count',
    valid_until_tick: 'count',
  }),
  ack: closed({
    schema_version: ['hrc-ack/0.1'],
    ack_id: 'text',
    lane_id: 'text',
    recipient_ref: 'text',
    accepted_handoff_event_id: 'text',
    accepted_ownership_epoch: 'count',
    observed_predecessor_id: 'text',
  }),
  execution: closed(
    {
      execution_id: 'text',
      authority_lane_id: 'text',
      authority_owner_ref: 'text',
      authority_epoch: 'count',
      root_execution_id: 'text',
      actor_ref: 'text',
    },
    { parent_execution_id: 'text or null', process_group_ref: 'text', process_state: 'text' },
  ),
}

/**
 * Returns where a value breaks the closed schema of a document of HRC-001 or ORC-001, in the order of its properties, then what is
 * missing; none for a value that is one.
 */
export function findFaults(document: unknown, kind: HrcKind): Finding[] {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    return [fault('', `wanted an object, got ${shown(document)}`)]
  }
  const { forms, required } = schemas[kind]
  const faults: Finding[] = []
  for (const [key, value] of Object.entries(document)) {
    const why = whyNot(forms.get(key), value)
    if (why !== undefined) faults.push(fault(pointerOf([key]), why))
  }
  for (const key of required(document)) {
    if (!Object.hasOwn(document, key)) faults.push(fault(pointerOf([key]), 'is missing'))
  }
  return faults
}

/** Returns a finding on a place of a document that breaks its schema. */
export function fault(pointer: string, message: string): Finding {
  return { code: 'HS4201', severity: 'error', message, pointer }
}

function closed(
  forms: Readonly<Record<string, Form>>,
  optional: Readonly<Record<string, Form>> = {},
): Schema {
  const names = Object.keys(forms)
  return { forms: new Map(Object.entries({ ...forms, ...optional })), required: () => names }
}

function isKind(document: object, kind: string): boolean {
  return 'transition_kind' in document && document.transition_kind === kind
}

function whyNot(form: Form | undefined, value: unknown): string | undefined {
  if (form === undefined) return 'is no property of the document'
  if (form === 'text or null') return value === null ? undefined : whyNot('text', value)
  if (form === 'text') {
    const isText = typeof value === 'string' && value !== ''
    return isText ? undefined : `wanted text of at least 1 character, got ${shown(value)}`
  }
  if (form === 'count') {
    const isCount = Number.isSafeInteger(value) && (value as number) >= 0
    return isCount ? undefined : `wanted an integer from 0 to 2^53−1, got ${shown(value)}`
  }
  const isOne = typeof value === 'string' && form.includes(value)
  return isOne ? undefined : `wanted ${form.join(' or ')}, got ${shown(value)}`
}

function shown(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}
