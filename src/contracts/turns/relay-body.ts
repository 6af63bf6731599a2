import type { JsonForm } from '../../../store/canonical.ts'
import { bytesForm, findBytes, findLink, linkForm } from '../../../store/canonical.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { codecOf } from '../../../store/cid-text.ts'

/** How the file has a turn where its text differs from the turn's. */
export type Spelling = 'crlf' | 'folded'

/** Turns that follow each other in the chain and in the file, all spelt alike. */
export interface Run {
  /** The place of the first in the chain, from 0. */
  readonly first: number
  readonly count: number
  /** What stands between each two; empty where there is one. */
  readonly between: string
  /** Absent where the file has the text of the turn. */
  readonly spelling: Spelling | undefined
}

/** One turn that the file has in a spelling of its own. */
export interface Respelt {
  readonly first: number
  readonly text: string
}

/** A part of a file: loose text, the bytes of a file that is no UTF-8, or turns. All parts joined are the file. */
export type Part = string | Uint8Array | Run | Respelt

/** What a relay's files were when they were imported or written: text that is in no turn, and where the turns stand. */
export interface RelayNote {
  /** The parts of the relay. */
  readonly living: readonly Part[]
  /** The parts of the archive; undefined where there is none. */
  readonly archive: readonly Part[] | undefined
  /** The entry of the last turn in the chain; undefined where there is none. */
  readonly head: CidText | undefined
  /** How many of the last turns were written into the store alone, and no file is known to have had them. */
  readonly ahead: number
  /** How many turns the chain has. Each stands in one of the files, once. */
  readonly turns: number
  /** 1 + that of the note before; 1 for the first. */
  readonly version: number
}

type FormMap = { readonly [key: string]: JsonForm }

/** Returns the body of a relay note, in canonical form. */
export function relayForm(note: RelayNote): { [key: string]: JsonForm } {
  const { ahead, archive, head, living, turns, version } = note
  return {
    ...(ahead === 0 ? {} : { ahead }),
    ...(archive === undefined ? {} : { archive: archive.map(partForm) }),
    head: head === undefined ? null : linkForm(head),
    living: living.map(partForm),
    turns,
    version,
  }
}

function partForm(part: Part): JsonForm {
  if (typeof part === 'string') return part
  if (part instanceof Uint8Array) return bytesForm(part)
  if ('text' in part) return { first: part.first, text: part.text }
  const { first, count, between, spelling } = part
  return { between, count, first, ...(spelling === undefined ? {} : { spelling }) }
}

/** Returns the relay note that a body holds, or undefined when it holds none. */
export function findRelayNote(form: FormMap): RelayNote | undefined {
  const { archive, living } = form as Record<string, JsonForm>
  const counts = countsOf(form)
  const head = headOf(form)
  const ofLiving = partsOf(living)
  const ofArchive = archive === undefined ? [] : partsOf(archive)
  if (counts === undefined || head === 'none') return undefined
  if (ofLiving === undefined || ofArchive === undefined) return undefined
  if ((head === undefined) !== (counts.turns === 0)) return undefined
  if (!areAllOnce([...ofArchive, ...ofLiving], counts.turns)) return undefined
  return {
    living: ofLiving,
    archive: archive === undefined ? undefined : ofArchive,
    head,
    ...counts,
  }
}

function countsOf(form: FormMap): Pick<RelayNote, 'ahead' | 'turns' | 'version'> | undefined {
  const { ahead, archive, turns, version } = form as Record<string, JsonForm>
  const optional = [ahead, archive].filter((value) => value !== undefined)
  if (Object.keys(form).length !== 4 + optional.length) return undefined
  if (!isCount(turns, 0) || !isCount(version, 1)) return undefined
  if (ahead === undefined) return { ahead: 0, turns, version }
  return isCount(ahead, 1) && ahead <= turns ? { ahead, turns, version } : undefined
}

function headOf({ head }: Record<string, JsonForm>): CidText | 'none' | undefined {
  if (head === null) return undefined
  const link = findLink(head)
  return link !== undefined && codecOf(link) === 'dag-json' ? link : 'none'
}

function partsOf(value: JsonForm | undefined): Part[] | undefined {
  if (!Array.isArray(value)) return undefined
  const parts: Part[] = []
  for (const item of value) {
    const part = partOf(item)
    if (part === undefined) return undefined
    // two texts in a row could be one, and bytes are a whole file
    if (typeof part === 'string' && typeof parts.at(-1) === 'string') return undefined
    if (part instanceof Uint8Array && value.length > 1) return undefined
    parts.push(part)
  }
  return parts
}

function partOf(item: JsonForm): Part | undefined {
  if (typeof item === 'string') return item === '' ? undefined : item
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined
  const bytes = findBytes(item)
  if (bytes !== undefined) return bytes.length === 0 ? undefined : bytes
  const { first, text } = item as Record<string, JsonForm>
  if (!isCount(first, 0)) return undefined
  if (typeof text !== 'string') return runOf(item, first)
  return Object.keys(item).length === 2 ? { first, text } : undefined
}

function runOf(item: FormMap, first: number): Run | undefined {
  const { between, count, spelling } = item as Record<string, JsonForm>
  if (Object.keys(item).length !== (spelling === undefined ? 3 : 4)) return undefined
  if (typeof between !== 'string' || !isCount(count, 1)) return undefined
  if (count === 1 && between !== '') return undefined
  if (spelling !== undefined && spelling !== 'crlf' && spelling !== 'folded') return undefined
  return { first, count, between, spelling }
}

function isCount(value: JsonForm | undefined, least: number): value is number {
  return typeof value === 'number' && value >= least
}

/** Each turn of the chain stands in one part. */
function areAllOnce(parts: readonly Part[], turns: number): boolean {
  let next = 0
  for (const { first, count } of runsOf(parts).toSorted((a, b) => a.first - b.first)) {
    if (first !== next) return false
    next += count
  }
  return next === turns
}

/** Returns where turns stand in a file, in its order. */
export function runsOf(
  parts: readonly Part[],
): readonly { readonly first: number; readonly count: number }[] {
  return parts.flatMap((part) => {
    if (typeof part === 'string' || part instanceof Uint8Array) return []
    return [{ first: part.first, count: 'text' in part ? 1 : part.count }]
  })
}
