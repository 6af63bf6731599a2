import type { JsonForm } from './canonical.ts'
import { findLink } from './canonical.ts'
import type { CidText } from './cid-text.ts'

/** Returns every CID that a decoded block links to, wherever it stands, without repeats. */
export function linksIn(form: JsonForm): readonly CidText[] {
  const links = new Set<CidText>()
  const waiting: JsonForm[] = [form]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (typeof at !== 'object' || at === null) continue
    const link = findLink(at)
    if (link !== undefined) links.add(link)
    // not spread: a list may have more items than a call takes arguments
    else for (const item of Array.isArray(at) ? at : Object.values(at)) waiting.push(item)
  }
  return [...links]
}
