import type { HandoffEnvelope } from './document.ts'
import type { Segment } from './finding.ts'
import { placedFinding, quote } from './finding.ts'
import { report, sortByCodePoint } from './rule-context.ts'
import type { RuleContext } from './rule-context.ts'

/** Judges revisions and ids: CSAG-H-001 to CSAG-H-005. */
export function judgeRevision(context: RuleContext): void {
  const { envelope } = context
  const parents = envelope.parents ?? []
  const heads = envelope.current_heads
  if (parents.includes(envelope.revision)) {
    report(context, 'CSAG-H-001', ['parents'], `${quote(envelope.revision)} is the revision itself`)
  }
  if (hasRepeats(parents)) report(context, 'CSAG-H-002', ['parents'], 'a parent is named twice')
  if (hasRepeats(heads)) {
    report(context, 'CSAG-H-003', ['current_heads'], 'a current head is named twice')
  }
  judgeIds(context)
  if (!envelope.source_artifacts.some((record) => record.artifact_role === 'paper_extraction')) {
    const message = 'wanted at least one record with the role paper_extraction'
    report(context, 'CSAG-H-005', ['source_artifacts'], message)
  }
}

/** Judges the conflicts and the current heads: CSAG-H-044 to CSAG-H-049. */
export function judgeConflicts(context: RuleContext): void {
  const { envelope } = context
  const current = new Set(envelope.current_heads)
  const known = new Set([...(envelope.parents ?? []), ...current])
  if (envelope.revision !== '') known.add(envelope.revision)
  let isOpen = false
  for (const [i, conflict] of (envelope.conflicts ?? []).entries()) {
    const at = ['conflicts', i]
    for (const [k, head] of conflict.competing_heads.entries()) {
      if (known.has(head)) continue
      const message = `${quote(head)} is neither the revision nor a parent nor a current head`
      report(context, 'CSAG-H-044', [...at, 'competing_heads', k], message)
    }
    if (conflict.conflict_status === 'resolved') {
      judgeResolved(context, conflict, at, current)
      continue
    }
    isOpen = true
    judgeOpen(context, conflict, at, current)
  }
  if (!isOpen && !current.has(envelope.revision)) {
    const message = `${quote(envelope.revision)}, the revision, is not a current head`
    report(context, 'CSAG-H-049', ['current_heads'], message)
  }
}

type Conflict = NonNullable<HandoffEnvelope['conflicts']>[number]

function judgeOpen(
  context: RuleContext,
  conflict: Conflict,
  at: readonly Segment[],
  current: ReadonlySet<string>,
): void {
  if (!conflict.competing_heads.every((head) => current.has(head))) {
    const message = 'the conflict is open and not all of its heads are current'
    report(context, 'CSAG-H-045', [...at, 'competing_heads'], message)
  }
  if ((conflict.resolution ?? '') !== '' || (conflict.resolved_by_head ?? '') !== '') {
    report(context, 'CSAG-H-046', at, 'the conflict is open and has a resolution')
  }
}

function judgeResolved(
  context: RuleContext,
  conflict: Conflict,
  at: readonly Segment[],
  current: ReadonlySet<string>,
): void {
  if ((conflict.resolution ?? '') === '') {
    report(context, 'CSAG-H-047', [...at, 'resolution'], 'the conflict is resolved without a text')
  }
  const head = conflict.resolved_by_head ?? undefined
  if (head === undefined || !current.has(head)) {
    const shown = head === undefined ? 'no head' : quote(head)
    const message = `${shown} resolved the conflict, wanted a current head`
    report(context, 'CSAG-H-048', [...at, 'resolved_by_head'], message)
  }
}

function judgeIds(context: RuleContext): void {
  const once = new Set<string>()
  const repeated = new Map<string, string[]>()
  const note = (id: string): void => {
    const count = once.size
    if (once.add(id).size === count) repeated.set(id, [])
  }
  visitIds(context, note)
  if (repeated.size === 0) return
  visitIds(context, (id, place) => repeated.get(id)?.push(placedFinding('', place(), '').path))
  for (const id of sortByCodePoint(repeated.keys())) {
    const places = (repeated.get(id) ?? []).join(', ')
    report(context, 'CSAG-H-004', [], `the id ${quote(id)} is at ${places}`)
  }
}

/** Calls `visit` for each object that has an id, with a function that gives its place. */
function visitIds(
  { envelope, resolved }: RuleContext,
  visit: (id: string, place: () => readonly Segment[]) => void,
): void {
  visit(envelope.id, () => [])
  for (const { record, place } of resolved.records) visit(record.id, () => place)
  envelope.assessments?.forEach(({ id }, i) => visit(id, () => ['assessments', i]))
  envelope.actions?.forEach(({ id }, i) => visit(id, () => ['actions', i]))
  envelope.executions?.forEach(({ id }, i) => visit(id, () => ['executions', i]))
  envelope.conflicts?.forEach(({ id }, i) => visit(id, () => ['conflicts', i]))
}

function hasRepeats(texts: readonly string[]): boolean {
  return new Set(texts).size !== texts.length
}
