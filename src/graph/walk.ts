import type { CidText } from '../../store/cid-text.ts'
import { checkArtifact } from '../../store/artifacts.ts'
import type { Database } from '../../store/database.ts'
import type { Entry } from '../entry/entry.ts'
import { mayBeRestated, nodeKey } from '../entry/kinds.ts'
import { Collection } from './collect.ts'
import type { LoadedGraph } from './loaded.ts'

/** How far a walk goes. */
export interface WalkOptions {
  /** Returns whether an earlier certificate covers an entry and all that it rests on. */
  readonly isBefore?: (cid: CidText) => boolean
  /** Returns whether the entry `cid`, which has the body of `entry`, is one node with it. */
  readonly isOfNode?: (cid: CidText, entry: Entry) => Promise<boolean>
  /** Returns whether an entry's signature was checked before. */
  readonly isMarked?: (cid: CidText) => boolean
  /** Goes over parents alone and reads bodies alone. */
  readonly documentsOnly?: boolean
}

const batch = 256

/**
 * Returns the closure of `starts` over parents and prev, with every other entry of each node, and what the entries
 * rest on: bodies, files as given, lists and artifacts. Each block is read once and hashed; refs are not followed.
 */
export async function walk(
  db: Database,
  starts: Iterable<CidText>,
  options: WalkOptions = {},
): Promise<LoadedGraph> {
  const collection = new Collection()
  const seen = new Set<CidText>()
  const rests = new Map<CidText, Rest>()
  const nodes = new Set<string>()
  let wave = take(starts, seen)
  while (wave.length > 0) {
    const next = new Set<CidText>()
    for (let at = 0; at < wave.length; at += batch) {
      const cids = wave.slice(at, at + batch)
      for (const entry of await readEntries(db, collection, cids, options)) {
        if (isCovered(collection, entry.cid, options)) {
          if (entry.kind === 'envelope') addBody(rests, entry)
          continue
        }
        if (options.documentsOnly === true) addBody(rests, entry)
        else addRests(rests, entry)
        for (const cid of await linked(db, entry, nodes, options)) next.add(cid)
      }
    }
    if (rests.size >= batch) await readRests(db, collection, rests)
    await collection.settle(batch)
    wave = take(next, seen)
  }
  await readRests(db, collection, rests)
  await collection.settle(0)
  return collection
}

/** How a block that an entry names is read. */
type Rest = { readonly of: CidText } & (
  | { readonly as: 'body'; readonly kind: string }
  | { readonly as: 'cut' | 'list' | 'source' }
)

function take(cids: Iterable<CidText>, seen: Set<CidText>): CidText[] {
  const fresh = [...cids].filter((cid) => !seen.has(cid))
  for (const cid of fresh) seen.add(cid)
  return fresh
}

/** The entry where covered history begins is read, with its body, for its children's sake; nothing below it is. */
function isCovered(collection: Collection, cid: CidText, { isBefore }: WalkOptions): boolean {
  if (isBefore?.(cid) !== true) return false
  collection.before.add(cid)
  return true
}

async function readEntries(
  db: Database,
  collection: Collection,
  cids: readonly CidText[],
  { isMarked }: WalkOptions,
): Promise<Entry[]> {
  const found: Entry[] = []
  for (const [i, read] of (await db.getMany(cids)).entries()) {
    const cid = cids[i]!
    collection.counts.blocks += 1
    if (read.state !== 'ok') collection.addDamage(cid, read.state, 'the entry')
    else {
      const entry = collection.addEntry(cid, read.bytes, isMarked ?? (() => false))
      if (entry !== undefined) found.push(entry)
    }
  }
  return found
}

/** The entries that an entry follows, and the others of its node, which are looked for once. */
async function linked(
  db: Database,
  entry: Entry,
  nodes: Set<string>,
  { documentsOnly, isOfNode }: WalkOptions,
): Promise<CidText[]> {
  const links: CidText[] = [...entry.parents, ...(documentsOnly === true ? [] : entry.prev)]
  if (!mayBeRestated(entry.kind) || isOfNode === undefined) return links
  const carriers = (db.readRow('bodies', entry.body) ?? []) as CidText[]
  if (carriers.length === 1 && carriers[0] === entry.cid) return links
  const key = nodeKey(entry)
  if (nodes.has(key)) return links
  nodes.add(key)
  for (const cid of carriers) {
    if (cid !== entry.cid && (await isOfNode(cid, entry))) links.push(cid)
  }
  return links
}

function addRests(rests: Map<CidText, Rest>, entry: Entry): void {
  const { artifacts, cid: of, source } = entry
  addBody(rests, entry)
  if (artifacts !== undefined) rests.set(artifacts, { as: 'list', of })
  if (source !== undefined) rests.set(source, { as: 'source', of })
}

function addBody(rests: Map<CidText, Rest>, { body, cid: of, kind }: Entry): void {
  rests.set(body, { as: 'body', kind, of })
}

async function readRests(
  db: Database,
  collection: Collection,
  rests: Map<CidText, Rest>,
): Promise<void> {
  const wanted = [...rests].filter(([cid]) => !isRead(collection, cid))
  rests.clear()
  for (let at = 0; at < wanted.length; at += batch) {
    const part = wanted.slice(at, at + batch)
    const reads = await db.getMany(part.map(([cid]) => cid))
    for (const [i, [cid, rest]] of part.entries()) {
      const read = reads[i]!
      collection.counts.blocks += 1
      if (read.state !== 'ok')
        collection.addDamage(cid, read.state, `the ${rest.as} of entry ${rest.of}`)
      else await addRest(db, collection, cid, read.bytes, rest)
      for (const cut of cutsIn(collection, cid, rest)) rests.set(cut, { as: 'cut', of: rest.of })
    }
  }
  if (rests.size > 0) await readRests(db, collection, rests)
}

/** A roster's cuts come with it. */
function cutsIn({ bodies }: Collection, cid: CidText, rest: Rest): readonly CidText[] {
  const facts = rest.as === 'body' && rest.kind === 'roster' ? bodies.get(cid) : undefined
  return facts?.kind === 'roster' ? facts.cuts : []
}

function isRead({ bodies, lists, sources }: Collection, cid: CidText): boolean {
  return bodies.has(cid) || lists.has(cid) || sources.has(cid)
}

async function addRest(
  db: Database,
  collection: Collection,
  cid: CidText,
  bytes: Uint8Array,
  rest: Rest,
): Promise<void> {
  if (rest.as === 'cut') collection.addCut(cid, bytes)
  else if (rest.as === 'body') collection.addBody(cid, bytes, rest.kind)
  else if (rest.as === 'source') collection.addSource(cid, bytes)
  else {
    for (const artifact of collection.addList(cid, bytes)) {
      if (collection.artifacts.has(artifact)) continue
      collection.addArtifact(artifact, await checkArtifact(db, artifact), rest.of)
    }
  }
}
