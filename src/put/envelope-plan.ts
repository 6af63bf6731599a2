import type { CidText } from '../../store/cid-text.ts'
import { includesSorted } from '../../store/sorted.ts'
import type { Context } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { HandoffError } from '../errors.ts'
import { validHeads } from '../graph/heads.ts'
import type { Node } from '../graph/nodes.ts'
import { nodesOf } from '../graph/nodes.ts'
import type { Draft } from './draft.ts'
import type { Plan } from './plan.ts'
import { entriesIn, lastCertificate, readEntries, sortedNames, Unread } from './plan.ts'

/**
 * Returns where an envelope lands, from what the store holds at this moment.
 *
 * @throws {HandoffError} `HSTORE_EQUIVOCATION` when the author gave the revision another document;
 * `HSTORE_PARENT_UNKNOWN`, `HSTORE_PARENT_AMBIGUOUS`, `HSTORE_SHALLOW_HELD` for a parent that can't be linked as asked;
 * `HSTORE_HEADS_MOVED` when a parent has a child already and was not named outright.
 */
export function planEnvelope(context: Context, draft: Draft, did: string): Plan | Unread {
  const certificate = lastCertificate(context, draft.author, did)
  if (certificate instanceof Unread) return certificate
  const namesakes = validNamesakes(context, draft.stream, draft.name ?? '')
  if (namesakes instanceof Unread) return namesakes
  const own = namesakes.filter(
    ({ author, body }) => author === draft.author && body === draft.body.cid,
  )
  const parents = linkParents(context, draft)
  if (parents instanceof Unread) return parents
  const plan = {
    parents: parents.nodes.map(({ entry }) => entry.cid).sort(),
    shallow: parents.shallow,
  }
  const same = own.find((entry) => isSame(entry, parents, draft))
  if (same !== undefined) return { same }
  assertNoEquivocation(draft, namesakes)
  if (own.length === 0 && !areHeads(context, draft, parents.nodes)) {
    const heads = headsOfStream(context, draft.stream)
    if (heads instanceof Unread) return heads
    assertHeads(draft, parents.nodes, heads)
  }
  return { ...plan, refs: refsOf(draft, plan.parents, certificate) }
}

/** The author's certificate counts for what follows the very heads that it judged. */
function refsOf(
  { refs }: Draft,
  parents: readonly CidText[],
  certificate: VerifiedEntry | undefined,
): CidText[] {
  const isBasis = parents.length > 0 && certificate?.refs.join() === parents.join()
  return [...new Set([...refs, ...(isBasis ? [certificate.cid] : [])])].sort()
}

/** A link may name any entry of the parent's node: all say the same of it. */
function isSame(entry: VerifiedEntry, { nodes, shallow }: Linked, draft: Draft): boolean {
  return (
    entry.witness === draft.witness &&
    entry.parents.length === nodes.length &&
    nodes.every((node) => node.entries.some(({ cid }) => entry.parents.includes(cid))) &&
    entry.shallow.length === shallow.length &&
    entry.shallow.every((name, i) => name === shallow[i])
  )
}

function validNamesakes(
  context: Context,
  stream: string,
  name: string,
): readonly VerifiedEntry[] | Unread {
  const entries = entriesIn(context, { index: 'names', stream, name })
  if (entries instanceof Unread) return entries
  return entries.filter((entry) => context.trust.standingOf(entry).standing === 'valid')
}

interface Linked {
  readonly nodes: readonly Node[]
  readonly shallow: readonly string[]
}

function linkParents(context: Context, draft: Draft): Linked | Unread {
  const named = readEntries(context, draft.parents)
  if (named instanceof Unread) return named
  assertNamed(context, draft, named)
  const nodes: Node[] = []
  const absent: string[] = []
  for (const name of sortedNames(draft.parentNames)) {
    const entries = validNamesakes(context, draft.stream, name)
    if (entries instanceof Unread) return entries
    const found = nodesOf(entries)
    const chosen = found.filter((node) =>
      node.entries.some(({ cid }) => draft.parents.includes(cid)),
    )
    if (found.length === 0) absent.push(name)
    else nodes.push(...onlyNode(name, chosen.length > 0 ? chosen : found, chosen.length > 0))
  }
  return { nodes, shallow: shallowNames(draft, absent) }
}

function onlyNode(name: string, nodes: readonly Node[], isChosen: boolean): readonly Node[] {
  if (nodes.length === 1 || isChosen) return nodes
  const cids = nodes.map(({ entry }) => entry.cid).sort()
  throw new HandoffError(
    'HSTORE_PARENT_AMBIGUOUS',
    `parent ${name} is the name of ${cids.length} documents: choose with --parent ${cids.join(' or ')}`,
    { details: { cids } },
  )
}

function assertNamed(context: Context, draft: Draft, named: readonly VerifiedEntry[]): void {
  for (const entry of named) {
    const { standing, why } = context.trust.standingOf(entry)
    if (standing !== 'valid') {
      throw new HandoffError(
        'HSTORE_PARENT_UNKNOWN',
        `--parent ${entry.cid} is not valid: ${why}; follow an entry that is`,
        { details: { cid: entry.cid } },
      )
    }
    if (entry.stream === draft.stream && draft.parentNames.includes(entry.name ?? '')) continue
    throw new HandoffError(
      'HSTORE_PARENT_UNKNOWN',
      `--parent ${entry.cid} (${entry.name ?? entry.kind}) is none of the envelope's parents: ${draft.parentNames.join(', ') || 'it has none'}`,
      { details: { cid: entry.cid } },
    )
  }
}

function shallowNames(draft: Draft, absent: readonly string[]): readonly string[] {
  if (draft.shallow === 'absent') {
    if (absent.length > 0 || draft.parentNames.length === 0) return absent
    throw held(draft.parentNames)
  }
  const missing = absent.filter((name) => !draft.shallow.includes(name))
  if (missing.length > 0) {
    throw new HandoffError(
      'HSTORE_PARENT_UNKNOWN',
      `the store does not hold parent ${missing.join(', ')}: put it first, or add --shallow to go on without it`,
      { details: { names: missing } },
    )
  }
  const there = draft.shallow.filter((name) => !absent.includes(name))
  if (there.length > 0) throw held(there)
  return absent
}

function held(names: readonly string[]): HandoffError {
  return new HandoffError(
    'HSTORE_SHALLOW_HELD',
    `the store holds parent ${names.join(', ')}: put the file without --shallow to link it`,
    { details: { names } },
  )
}

function assertNoEquivocation(draft: Draft, namesakes: readonly VerifiedEntry[]): void {
  if (draft.witness) return
  const other = namesakes.find(
    ({ author, body, witness }) => author === draft.author && body !== draft.body.cid && !witness,
  )
  if (other === undefined) return
  throw new HandoffError(
    'HSTORE_EQUIVOCATION',
    `${draft.author} gave revision ${draft.name} another document: entry ${other.cid} stands, body ${draft.body.cid} is refused; give the new document a new revision`,
    { details: { cid: other.cid, body: draft.body.cid } },
  )
}

/** Nearly always the index of heads says it all. */
function areHeads(context: Context, draft: Draft, nodes: readonly Node[]): boolean {
  const indexed = nodes.length === 0 ? [] : (context.db.readRow('heads', draft.stream) ?? [])
  return nodes.every(({ entries }) =>
    entries.some(({ cid }) => includesSorted(indexed, cid) || draft.parents.includes(cid)),
  )
}

/** Compare and swap: who follows a node that has a child already has not seen that child. */
function assertHeads(draft: Draft, nodes: readonly Node[], heads: readonly string[]): void {
  const followed = nodes.find(
    ({ entries }) => !entries.some(({ cid }) => heads.includes(cid) || draft.parents.includes(cid)),
  )
  if (followed === undefined) return
  throw new HandoffError(
    'HSTORE_HEADS_MOVED',
    `${followed.entry.name} has been followed already; heads are ${heads.join(', ')}: build on one of them, or fork on purpose with --parent ${followed.entry.cid}`,
    { details: { heads: [...heads], cid: followed.entry.cid } },
  )
}

/** The index of heads knows nothing of standings: where one in it is not valid, they are worked out anew. */
function headsOfStream(context: Context, stream: string): readonly string[] | Unread {
  const row = context.db.readRow('heads', stream) ?? []
  const entries = entriesIn(context, { index: 'heads', stream })
  if (entries instanceof Unread) return entries
  if (entries.every((entry) => context.trust.standingOf(entry).standing === 'valid')) return row
  const key = [stream, ...row].join('\u0000')
  const known = context.oddHeads.get(key)
  if (known !== undefined) return known
  return new Unread(async () => {
    const heads = await validHeads(context, stream)
    context.oddHeads.set(
      key,
      heads.map(({ cid }) => cid),
    )
  })
}
