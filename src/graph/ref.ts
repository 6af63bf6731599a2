import { quoted } from '../kernel/shown.ts'
import type { CidText } from '../../store/cid-text.ts'
import { codecOf, isCidText } from '../../store/cid-text.ts'
import { parseTipKey, tipPrefix } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import { getEntry, noteMarked } from '../context.ts'
import { decodeForm } from '../../store/canonical.ts'
import { looksLikeEntry } from '../entry/decode.ts'
import { familyOf } from '../entry/kinds.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { HandoffError } from '../errors.ts'
import { assertArgument } from '../kernel/errors.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { IndexRow } from './index-row.ts'
import { assertInRow, cidsIn } from './index-row.ts'
import { validHeads } from './heads.ts'
import { nodesOf } from './nodes.ts'
import { streamsNamed } from './stream-names.ts'

/** What a REF may stand for: an entry, or the CID of one that can't be read. */
type Named = VerifiedEntry | { readonly cid: CidText }

/**
 * Returns the CID that a REF names: an entry, or an artifact where the REF is one's CID.
 *
 * REF is a CID (of an entry, an artifact, or a body that one node carries), a stream (its one head; the family may be
 * left out where the rest is unique), or a revision that one node has. A name with two readings is ambiguous.
 *
 * @throws {HandoffError} `HSTORE_REF_NOT_FOUND` when nothing has the name; `HSTORE_REF_AMBIGUOUS` naming the CIDs.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when `ref` is no string.
 */
export async function resolveRef(context: Context, ref: string): Promise<CidText> {
  assertArgument('ref', ref, 'string')
  if (ref === '') throw notFound(ref, 'the REF is empty')
  if (isCidText(ref)) return resolveCid(context, ref)
  if (/^(bagu|bafkrei)[a-z2-7]{40,}/i.test(ref)) {
    throw notFound(
      ref,
      'it is no CID in the one spelling that hstore takes (v1, base32 lower case, sha2-256)',
    )
  }
  const streams = streamsNamed(await streamsOf(context), ref)
  const named = [...(await namedNodes(context, ref))]
  for (const stream of streams) named.push(...(await headNodes(context, stream)))
  const nodes = [...new Map(named.map((node) => [node.cid, node])).values()]
  if (nodes.length === 1) return nodes[0]!.cid
  if (nodes.length === 0) {
    const why =
      streams.length > 0 ? 'the stream has no head' : 'no stream or revision has that name'
    throw notFound(ref, why)
  }
  assertOneDocument(nodes)
  throw ambiguous(ref, nodes.map(told).join(', '), nodes.map(({ cid }) => cid).sort())
}

function told(node: Named): string {
  return 'kind' in node ? `${node.cid} (${node.name ?? node.kind} in ${node.stream})` : node.cid
}

async function headNodes(context: Context, stream: string): Promise<readonly Named[]> {
  return nodesBehind(context, [{ index: 'heads', stream }])
}

/**
 * Returns the entry that a REF names; see `resolveRef`.
 *
 * @throws {HandoffError} also `HSTORE_REF_NOT_FOUND` when the REF names an artifact.
 */
export async function resolveEntry(context: Context, ref: string): Promise<VerifiedEntry> {
  return getEntry(context, await resolveEntryCid(context, ref))
}

/** Returns the CID of the entry that a REF names, whatever is wrong with its block; throws as `resolveEntry`. */
export async function resolveEntryCid(context: Context, ref: string): Promise<CidText> {
  const cid = await resolveRef(context, ref)
  if (codecOf(cid) === 'raw') throw notFound(ref, 'it is an artifact, not an entry')
  return cid
}

/**
 * Returns the entries that a history begins with: all heads of the stream that a REF names, for a fork is a normal
 * state, or the ends of its chains where it has notes alone; else the one entry. Throws as `resolveEntry`, also where
 * more than one thing has the name.
 */
export async function resolveStarts(context: Context, ref: string): Promise<readonly CidText[]> {
  const one = await resolveEntryCid(context, ref).catch((error: unknown) => {
    if (error instanceof HandoffError && forkCodes.has(error.code)) return error
    throw error
  })
  if (!(one instanceof HandoffError)) return [one]
  const streams = streamsNamed(await streamsOf(context), ref)
  const [stream, ...others] = streams
  if (stream === undefined || others.length > 0 || (await namedNodes(context, ref)).length > 0)
    throw one
  const heads = (await headsOf(context, stream)).map(({ cid }) => cid)
  return heads.length > 0 ? heads : endsOf(context, stream)
}

/** How `resolveRef` refuses the name of a stream with any number of heads but one. */
const forkCodes: ReadonlySet<string> = new Set([
  'HSTORE_EQUIVOCATION',
  'HSTORE_REF_AMBIGUOUS',
  'HSTORE_REF_NOT_FOUND',
])

async function endsOf(context: Context, stream: string): Promise<readonly CidText[]> {
  const ends: CidText[] = []
  for await (const { key } of context.db.rows('tips', tipPrefix(stream)))
    ends.push(...cidsIn(context, { index: 'tips', ...parseTipKey(key) }))
  return ends
}

/** Returns the entries that name the valid head nodes of a stream, in CID order. */
export async function headsOf(context: Context, stream: string): Promise<readonly VerifiedEntry[]> {
  return nodesOf(await validHeads(context, stream)).map(({ entry }) => entry)
}

/** Returns every stream that has entries and begins with `prefix`, in order. */
export async function streamsOf(context: Context, prefix = ''): Promise<readonly string[]> {
  await context.db.settled()
  const streams: string[] = []
  for await (const { key } of context.db.rows('tips', prefix)) {
    const { stream } = parseTipKey(key)
    if (streams.at(-1) !== stream) streams.push(stream)
  }
  return streams
}

async function resolveCid(context: Context, cid: CidText): Promise<CidText> {
  if (codecOf(cid) === 'raw' || (await isMarkedEntry(context, cid))) return cid
  const row = { index: 'bodies', body: cid } as const
  const carriers = cidsIn(context, row)
  // nobody names an entry as a body of his own to stand in its way
  if (carriers.length > 0 && !(await isEntry(context, cid))) {
    const nodes = await nodesBehind(context, [row])
    if (nodes.length === 1) return nodes[0]!.cid
    if (nodes.length > 1) {
      const cids = nodes.map((entry) => entry.cid).sort()
      throw ambiguous(cid, `the body of ${cids.join(', ')}`, cids)
    }
    return carriers[0]!
  }
  const bytes = await context.db.find(cid)
  if (bytes === undefined) throw notFound(cid, 'the store holds no such block')
  if (looksLikeEntry(decodeForm(bytes).form)) return cid
  throw notFound(cid, 'the block is neither an entry nor the body of one')
}

/** Most REFs are such: a row that is not there would take longer to look for than all the rest. */
async function isMarkedEntry(context: Context, cid: CidText): Promise<boolean> {
  if (context.recent.get(cid) !== undefined) return true
  if (!context.marks.hasSignature(cid)) return false
  const bytes = await context.db.find(cid)
  return bytes !== undefined && noteMarked(context, cid, bytes)
}

async function isEntry(context: Context, cid: CidText): Promise<boolean> {
  try {
    const bytes = await context.db.find(cid)
    return bytes !== undefined && looksLikeEntry(decodeForm(bytes).form)
  } catch (error) {
    if (error instanceof HstoreError) return false
    throw error
  }
}

async function namedNodes(context: Context, name: string): Promise<readonly Named[]> {
  const streams = (await streamsOf(context)).filter((stream) => familyOf(stream) === 'csag')
  const rows = streams.map((stream) => ({ index: 'names', stream, name }) as const)
  return nodesBehind(context, rows)
}

/**
 * Returns the entries that name the nodes behind rows: the valid ones, or where there are none all that can be read,
 * or the one that can't, so that the gate can say what is wrong with it. Damage beside sound nodes is an error.
 */
async function nodesBehind(context: Context, rows: readonly IndexRow[]): Promise<readonly Named[]> {
  const entries: VerifiedEntry[] = []
  const broken: { readonly cid: CidText; readonly error: HstoreError }[] = []
  for (const row of rows) {
    for (const cid of cidsIn(context, row)) {
      const entry = await getEntry(context, cid).catch((error: unknown) => {
        if (!(error instanceof HstoreError)) throw error
        broken.push({ cid, error })
      })
      if (entry === undefined) continue
      assertInRow(row, entry)
      entries.push(entry)
    }
  }
  const valid = entries.filter((entry) => context.trust.standingOf(entry).standing === 'valid')
  const nodes = nodesOf(valid.length > 0 ? valid : entries).map(({ entry }) => entry)
  if (broken.length > 0 && nodes.length + broken.length > 1) throw broken[0]!.error
  return broken.length > 0 ? broken : nodes
}

/** One author with two documents under one name is no question of choosing: it stops until it is resolved. */
function assertOneDocument(nodes: readonly Named[]): void {
  const seen = new Map<string, VerifiedEntry>()
  for (const node of nodes) {
    if (!('kind' in node) || node.kind !== 'envelope' || node.witness) continue
    const key = [node.stream, node.author, node.name].join('\u0000')
    const other = seen.get(key)
    if (other !== undefined && other.body !== node.body) {
      throw new HandoffError(
        'HSTORE_EQUIVOCATION',
        `${node.author} gave ${node.name} two documents, ${other.cid} and ${node.cid}: name one by its CID`,
        { details: { cids: [other.cid, node.cid].sort() } },
      )
    }
    seen.set(key, node)
  }
}

function notFound(ref: string, why: string): HandoffError {
  return new HandoffError(
    'HSTORE_REF_NOT_FOUND',
    `${quoted(ref)}: ${why}; hstore heads lists what is there`,
    {
      details: { ref },
    },
  )
}

function ambiguous(ref: string, what: string, candidates: readonly string[]): HandoffError {
  return new HandoffError('HSTORE_REF_AMBIGUOUS', `${quoted(ref)} names ${what}: choose one`, {
    details: { ref, candidates },
  })
}
