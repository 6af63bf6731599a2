import { plain } from './render.ts'

const maxText = 72
const before = 16

/**
 * Returns two values of a field as a reader compares them: long texts are cut to where they differ. Texts stand without
 * quotes only where nothing can be mistaken for something else.
 */
export function valuePair(from: unknown, to: unknown): readonly [string, string] {
  if (typeof from !== 'string' || typeof to !== 'string') return [valueText(from), valueText(to)]
  let same = 0
  while (same < from.length && from[same] === to[same]) same++
  const start = Math.max(from.length, to.length) <= maxText ? 0 : Math.max(0, same - before)
  return [cut(from, start), cut(to, start)]
}

/** Returns a value as text; `(none)` for what is not there. */
export function valueText(value: unknown): string {
  if (value === undefined) return '(none)'
  if (typeof value === 'string') return cut(value, 0)
  const link = findLink(value)
  if (link !== undefined) return plain(link)
  const json = JSON.stringify(value)
  return plain(json.length <= maxText ? json : `${json.slice(0, maxText)}…`)
}

function cut(text: string, start: number): string {
  const piece = text.slice(start, start + maxText)
  const shown = isBare(piece) ? piece : plain(JSON.stringify(piece))
  return `${start > 0 ? '…' : ''}${shown}${start + maxText < text.length ? '…' : ''}`
}

/** A word that is neither a number, a constant nor anything that the text around it is made of. */
function isBare(text: string): boolean {
  const isWord = /^\w[\w:/.#@=%+-]*$/.test(text) && !['true', 'false', 'null'].includes(text)
  return isWord && Number.isNaN(Number(text))
}

function findLink(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, '/')) return undefined
  const target = (value as Record<string, unknown>)['/']
  return typeof target === 'string' ? target : undefined
}
