import type { Changed } from '../diff.ts'
import { recordLists } from '../diff.ts'
import type { DiffReport } from '../diff-entries.ts'
import type { FieldChange } from '../diff-fields.ts'
import type { EntryReport } from '../reports.ts'
import type { Paint } from './paint.ts'
import { recordLine } from './record-lines.ts'
import { plain } from './render.ts'
import { valuePair, valueText } from './value-text.ts'

/** Returns a diff for a person: what differs, kind by kind, each with `+`, `~` or `-` before it. Nothing for equals. */
export function diffText(diff: DiffReport, paint: Paint): string {
  const { a, b, added, changed, dropped } = diff
  const kinds = [a.kind, ...recordLists(a.kind).map(({ kind }) => kind)]
  const lines = kinds.flatMap((wanted) => [
    ...added
      .filter(({ kind }) => kind === wanted)
      .map(({ kind, id, record }) => paint('added', `+ ${kind} ${recordLine(kind, id, record)}`)),
    ...changed
      .filter(({ kind }) => kind === wanted)
      .flatMap((record) => changedLines(record, paint)),
    ...dropped
      .filter(({ kind }) => kind === wanted)
      .map(({ kind, id, record }) => paint('dropped', `- ${kind} ${recordLine(kind, id, record)}`)),
  ])
  if (lines.length === 0) return ''
  const heading = [`--- ${entryLine(a)}`, `+++ ${entryLine(b)}`]
  return `${[...heading.map((line) => paint('heading', line)), ...lines].join('\n')}\n`
}

function entryLine({ cid, kind, revision, author }: EntryReport): string {
  return plain(`${cid} ${revision === '' ? kind : revision} by ${author}`)
}

function changedLines({ kind, id, fields }: Changed, paint: Paint): string[] {
  const heading = paint('changed', plain(`~ ${[kind, id ?? []].flat().join(' ')}`))
  return [heading, ...fields.flatMap((field) => fieldLines(field, paint))]
}

/** A list is shown by the members that came and went, anything else by both of its values. */
function fieldLines({ pointer, from, to }: FieldChange, paint: Paint): string[] {
  const name = `    ${plain(pointer.slice(1))}:`
  const [before, after] = [listOf(from), listOf(to)]
  if (before === undefined || after === undefined || before.length + after.length === 0) {
    const [old, now] = valuePair(from, to)
    return [`${name} ${old} -> ${now}`]
  }
  const gone = missing(before, after)
  const come = missing(after, before)
  if (gone.length + come.length === 0) return [`${name} in another order`]
  return [
    ...gone.map((member) => `${name} ${paint('dropped', `- ${memberText(member)}`)}`),
    ...come.map((member) => `${name} ${paint('added', `+ ${memberText(member)}`)}`),
  ]
}

/** What is not there has no members. */
function listOf(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : value == null ? [] : undefined
}

function missing(members: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  const left = new Map<string, number>()
  for (const other of others) {
    const text = JSON.stringify(other)
    left.set(text, (left.get(text) ?? 0) + 1)
  }
  return members.filter((member) => {
    const text = JSON.stringify(member)
    const count = left.get(text) ?? 0
    left.set(text, count - 1)
    return count <= 0
  })
}

/** A record among the members is known by its id, as other records are. */
function memberText(member: unknown): string {
  const id = typeof member === 'object' && member !== null ? (member as { id?: unknown }).id : null
  return typeof id === 'string' ? valueText(id) : valueText(member)
}
