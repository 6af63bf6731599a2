import type { JsonForm } from '../../store/canonical.ts'
import { encodeForm, findLink } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf, codecOf } from '../../store/cid-text.ts'
import { parseJson, toBlockForm } from '../../store/json-input.ts'
import type { KeptRecords } from '../attribution/records.ts'
import { KnownRecords, noRecords, recordsOf } from '../attribution/records.ts'
import type { Roster } from '../trust/roster.ts'
import { readRoster } from '../trust/read-roster.ts'

/** A decoded body or list, in its literal JSON form. */
export type FormMap = { readonly [key: string]: JsonForm }

/** What the graph needs of an envelope. */
export interface EnvelopeFacts {
  readonly id: string
  readonly revision: string
  readonly createdBy: string
  readonly parents: readonly string[]
  readonly currentHeads: readonly string[]
  readonly records: KeptRecords
}

const unread = new KnownRecords().keep([])

/** Returns what the graph needs of an envelope, or undefined when the body is none. */
export function findEnvelopeFacts(
  form: FormMap,
  known: KnownRecords | typeof noRecords = new KnownRecords(),
): EnvelopeFacts | undefined {
  const { id, revision, created_by, parents, current_heads } = form as Record<string, JsonForm>
  const named = [id, revision, created_by].every((value) => typeof value === 'string')
  if (!named || !isTexts(current_heads) || !(parents == null || isTexts(parents))) return undefined
  return {
    id: id as string,
    revision: revision as string,
    createdBy: created_by as string,
    parents: parents ?? [],
    currentHeads: current_heads,
    records: known === noRecords ? unread : known.keep(recordsOf(form)),
  }
}

function isTexts(value: JsonForm | undefined): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** Returns the roster that a body holds, or the reason why it holds none. */
export function rosterOrFault(form: FormMap): Roster | { readonly fault: string } {
  try {
    return readRoster(form)
  } catch (error) {
    return { fault: (error as Error).message }
  }
}

/** Returns the artifacts that a list block names, or undefined when it is no list. */
export function findArtifacts(form: FormMap): readonly CidText[] | undefined {
  const list = Object.hasOwn(form, 'artifacts') ? form['artifacts'] : undefined
  if (!Array.isArray(list) || list.length === 0 || Object.keys(form).length !== 1) return undefined
  const links = list.map((item) => findLink(item))
  const sound = links.every(
    (link, i) => link !== undefined && codecOf(link) === 'raw' && (i === 0 || links[i - 1]! < link),
  )
  return sound ? (links as CidText[]) : undefined
}

/** Returns the CID of the body that a file as given normalises to, or undefined when it has no block form. */
export function findNormalised(source: Uint8Array): CidText | undefined {
  try {
    return cidTextOf(encodeForm(toBlockForm(parseJson(source))), 'dag-json')
  } catch {
    return undefined
  }
}
