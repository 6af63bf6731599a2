import type { JsonForm } from '../store/canonical.ts'

/** A field that differs. */
export interface FieldChange {
  /** A JSON pointer (RFC 6901). */
  readonly pointer: string
  /** Absent where the field is not there. */
  readonly from?: JsonForm
  /** Absent where the field is no longer there. */
  readonly to?: JsonForm
}

/** Returns the fields in which two values differ, as deep as maps go; lists are one field unless they are maps alone. */
export function fieldChanges(from: JsonForm, to: JsonForm): FieldChange[] {
  const changes: FieldChange[] = []
  compare('', from, to, changes)
  return changes
}

function compare(
  pointer: string,
  from: JsonForm | undefined,
  to: JsonForm | undefined,
  changes: FieldChange[],
): void {
  if (isSame(from, to)) return
  if (isMap(from) && isMap(to)) {
    for (const key of [...new Set([...Object.keys(from), ...Object.keys(to)])].sort()) {
      compare(`${pointer}/${stepOf(key)}`, own(from, key), own(to, key), changes)
    }
  } else if (areMaps(from) && areMaps(to) && from.length === to.length) {
    for (const [i, item] of from.entries()) compare(`${pointer}/${i}`, item, to[i], changes)
  } else {
    changes.push({
      pointer,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    })
  }
}

/** Returns a map's own field: keys are what others chose. */
export function own(map: { readonly [key: string]: JsonForm }, key: string): JsonForm | undefined {
  return Object.hasOwn(map, key) ? map[key] : undefined
}

/** Returns whether a value is a map with fields; the forms of links and bytes are values of one piece. */
export function isMap(value: JsonForm | undefined): value is { [key: string]: JsonForm } {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !Object.hasOwn(value, '/')
  )
}

function areMaps(value: JsonForm | undefined): value is JsonForm[] {
  return Array.isArray(value) && value.every((item) => isMap(item))
}

function isSame(a: JsonForm | undefined, b: JsonForm | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a === b || (typeof a === 'object' && typeof b === 'object' && textOf(a) === textOf(b))
}

/** Returns one text for each value, whatever the order of its keys. */
export function textOf(value: JsonForm): string {
  if (typeof value !== 'object') return JSON.stringify(value)
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}

function stepOf(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
