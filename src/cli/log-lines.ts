import type { Log, Logged } from '../log.ts'
import { cutMiddle, widthOf } from './fit.ts'
import { drawGraph } from './graph-lines.ts'
import { lineByLine } from './graph-order.ts'
import type { Paint } from './paint.ts'
import { plain } from './render.ts'

/** How the graph is to look. */
export interface GraphLook {
  readonly paint: Paint
  /** The width that no line may pass; none where nobody looks. */
  readonly columns: number | undefined
}

const maxLanes = 12

/** Returns a node of a log as one line. */
export function logLine({ entry, parents, standing }: Logged, paint: Paint): string {
  const { cid, kind, name, author } = entry
  const shape = parents.length > 1 ? ` merges ${parents.length}` : ''
  const marks = [standing === 'valid' ? [] : standing, entry.witness ? 'witness' : []].flat()
  const told = marks.map((one) => ` (${one})`).join('')
  const mark = told === '' ? '' : paint('warning', told)
  return `${paint('cid', cid)} ${plain(`${name ?? kind} by ${author}${shape}`)}${mark}\n`
}

/** Yields the lines of a log that is drawn as a graph: one for each node, and lines between. */
export function* graphLines(log: Log, look: GraphLook): Generator<string> {
  const { columns } = look
  // where nobody looks there is room for whole CIDs
  const short = columns === undefined ? (cid: string) => cid : shortener(cidsIn(log))
  const lanes = columns === undefined ? maxLanes : Math.min(maxLanes, columns >> 3)
  for (const { graph, node, isAfterParent } of drawGraph(log, lineByLine(log), lanes)) {
    if (node === undefined) yield `${graph}\n`
    else {
      const room = columns === undefined ? undefined : columns - graph.length - 1
      const drawn = { ...look, columns: room }
      yield `${graph} ${nodeText(log.at(node), isAfterParent === true, short, drawn)}\n`
    }
  }
}

function cidsIn(log: Log): string[] {
  return Array.from({ length: log.size }, (_, index) => log.cidAt(index))
}

/** What a reader has to know can't be cut; the CID can, for plain log has it in full, and then the names. */
function nodeText(
  { entry, standing }: Logged,
  isAfterParent: boolean,
  short: (cid: string) => string,
  { paint, columns = Number.MAX_SAFE_INTEGER }: GraphLook,
): string {
  const { cid, kind, name, author } = entry
  const marks = [
    standing === 'valid' ? [] : standing,
    entry.witness ? 'witness' : [],
    isAfterParent ? 'follows one above' : [],
  ]
  const marked = marks
    .flat()
    .map((mark) => ` (${mark})`)
    .join('')
  const room = columns - marked.length - ' by '.length
  const by = cutMiddle(plain(author), Math.max(1, Math.floor(room / 2)))
  const called = cutMiddle(plain(name ?? kind), Math.max(1, room - widthOf(by)))
  const left = room - widthOf(called) - widthOf(by) - 1
  const shown = [cid, short(cid)].find((one) => one.length <= left)
  const end = shown === undefined ? '' : ` ${paint('cid', shown)}`
  return `${called} by ${by}${marked === '' ? '' : paint('warning', marked)}${end}`
}

/** Returns how CIDs are shortened so that no two of those shown look alike. */
function shortener(cids: readonly string[]): (cid: string) => string {
  const sorted = [...cids].sort()
  const shared = sorted.map((cid, i) => sharedLength(cid, sorted[i + 1] ?? ''))
  const length = shared.reduce((most, one) => Math.max(most, one), 12) + 1
  return (cid) => `${cid.slice(0, length)}…`
}

function sharedLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}

/** Returns a node of a log as one record: the name comes last, for it alone may hold what separates the others. */
export function logRecord({ entry, parents, standing }: Logged): string {
  const { cid, kind, name, author } = entry
  return record([cid, kind, standing, parents.join(' ') || '-', author, name ?? ''])
}

/** Returns fields as one record of `-z`: separated by tabs, ended by the only NUL in it. */
export function record(fields: readonly string[]): string {
  return `${fields.join('\t').replaceAll('\u0000', '\ufffd')}\u0000`
}
