import type { JsonForm } from '../../store/canonical.ts'
import { findLink, linkForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'
import { isDidKey } from '../../keys/did-key.ts'

/** Up to where a key's entries count under a grant that is closed. See docs/trust.md, «Cuts». */
export interface Cut {
  readonly key: string
  /** Entries of the key, sorted: they count with all that they go back to. */
  readonly pins: readonly CidText[]
  /** Entries that count by themselves, sorted. */
  readonly readmitted: readonly CidText[]
}

/** What a key says of itself: what is outside the pins waits for a roster. */
export type Freeze = Pick<Cut, 'key' | 'pins'>

type Form = { readonly [key: string]: JsonForm }

/** Returns a cut in canonical form. */
export function cutForm({ key, pins, readmitted }: Cut): { [key: string]: JsonForm } {
  return { key, pins: pins.map(linkForm), readmitted: readmitted.map(linkForm) }
}

/** Returns the cut that a block holds, or undefined when it holds none. */
export function findCut(form: Form): Cut | undefined {
  const readmitted = linksOf(form, 'readmitted')
  const freeze = partOf(form)
  if (Object.keys(form).length !== 3 || freeze === undefined || readmitted === undefined)
    return undefined
  return { ...freeze, readmitted }
}

/** Returns the body of a freeze in canonical form. */
export function freezeForm({ key, pins }: Freeze): { [key: string]: JsonForm } {
  return { key, pins: pins.map(linkForm) }
}

/** Returns the freeze that a body holds, or undefined when it holds none. */
export function findFreeze(form: Form): Freeze | undefined {
  return Object.keys(form).length === 2 ? partOf(form) : undefined
}

function partOf(form: Form): Freeze | undefined {
  const key = Object.hasOwn(form, 'key') ? form['key'] : undefined
  const pins = linksOf(form, 'pins')
  if (typeof key !== 'string' || !isDidKey(key) || pins === undefined) return undefined
  return { key, pins }
}

function linksOf(form: Form, key: string): CidText[] | undefined {
  const list = Object.hasOwn(form, key) ? form[key] : undefined
  if (!Array.isArray(list)) return undefined
  const links = list.map((item) => findLink(item))
  const isSound = links.every(
    (link, i) =>
      link !== undefined && codecOf(link) === 'dag-json' && (i === 0 || links[i - 1]! < link),
  )
  return isSound ? (links as CidText[]) : undefined
}
