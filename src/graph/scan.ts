import { checkArtifact, checkArtifactFile, listArtifactFiles } from '../../store/artifacts.ts'
import type { ScannedBlock } from '../../store/block-store.ts'
import type { JsonMap } from '../../store/canonical.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { looksLikeEntry } from '../entry/decode.ts'
import type { Entry } from '../entry/entry.ts'
import { HstoreError } from '../kernel/errors.ts'
import { finding } from '../rules/hstore-rules.ts'
import { findArtifacts } from './body.ts'
import { Collection } from './collect.ts'
import type { BodyFacts, LoadedGraph } from './loaded.ts'

/** Signatures checked at once, at most: more only take memory. */
const underWay = 512

const unread: BodyFacts = { kind: 'other' }

/** How a block is taken in. */
interface BlockOptions {
  readonly isMarked: (cid: CidText) => boolean
  readonly documents: boolean
}

/** What a block is that no entry has claimed yet. */
interface Loose {
  readonly facts: Map<CidText, BodyFacts>
  readonly lists: Map<CidText, readonly CidText[]>
  readonly raw: Set<CidText>
}

/**
 * Returns everything that the store holds, read in the order of the disk and hashed, linked or not.
 *
 * @param options - `documents`: false where nobody asks what bodies say; of rosters alone it is known then.
 */
export async function scanStore(
  db: Database,
  isMarked: (cid: CidText) => boolean,
  { documents = true }: { readonly documents?: boolean } = {},
): Promise<LoadedGraph> {
  await db.settled()
  const collection = new Collection()
  const loose: Loose = { facts: new Map(), lists: new Map(), raw: new Set() }
  for await (const blocks of db.scanBatches()) {
    for (const block of blocks) addBlock(collection, loose, block, { isMarked, documents })
    await collection.settle(underWay)
  }
  await collection.settle(0)
  await claim(db, collection, loose)
  return collection
}

function addBlock(
  collection: Collection,
  loose: Loose,
  { cid, bytes, sound, key }: ScannedBlock,
  options: BlockOptions,
): void {
  collection.counts.blocks += 1
  if (cid === undefined) {
    collection.damage.push(finding('HS1006', `${JSON.stringify(key)} names a block and is no CID`))
  } else if (!sound) collection.addDamage(cid, 'corrupt', 'the block')
  else if (codecOf(cid) === 'raw') loose.raw.add(cid)
  else addDagJson(collection, loose, cid, bytes, options)
}

function addDagJson(
  collection: Collection,
  loose: Loose,
  cid: CidText,
  bytes: Uint8Array,
  { isMarked, documents }: BlockOptions,
): void {
  try {
    const { form } = decodeForm(bytes)
    const list = findArtifacts(form)
    if (looksLikeEntry(form)) collection.addEntryForm(cid, bytes, form, isMarked)
    else if (list === undefined) loose.facts.set(cid, factsIn(collection, form, documents))
    else loose.lists.set(cid, list)
  } catch (error) {
    if (!(error instanceof HstoreError)) throw error
    collection.damage.push(finding('HS1003', error.message, { cid }))
  }
}

/** Of a document that nobody asks for it is enough that it is there; cuts are of rosters, and linked from them. */
function factsIn(collection: Collection, form: JsonMap, documents: boolean): BodyFacts {
  return documents || Object.hasOwn(form, 'roots') ? collection.guessFacts(form) : unread
}

/** Gives each entry what it names, notes what is not there, and then what nobody names. */
async function claim(db: Database, collection: Collection, loose: Loose): Promise<void> {
  const damaged = new Set(collection.damage.map(({ cid }) => cid))
  const claimed = new Set<CidText>()
  const lacks = (cid: CidText, what: string): void => {
    if (!damaged.has(cid)) collection.addDamage(cid, 'missing', what)
    damaged.add(cid)
  }
  for (const entry of collection.entries.values()) {
    claimed.add(entry.body)
    const facts = loose.facts.get(entry.body)
    if (facts === undefined) lacks(entry.body, `the body of ${entry.cid}`)
    else collection.bodies.set(entry.body, facts)
    if (entry.kind === 'roster' && facts?.kind === 'roster')
      claimCuts(collection, loose, facts.cuts, claimed, (cut) =>
        lacks(cut, `a cut of ${entry.body}`),
      )
    for (const link of [...entry.parents, ...entry.prev]) {
      if (!collection.entries.has(link)) lacks(link, `an entry that ${entry.cid} follows`)
    }
    if (entry.artifacts !== undefined) {
      claimed.add(entry.artifacts)
      await claimList(db, collection, loose, entry, lacks)
    }
    if (entry.source !== undefined) await claimSource(db, collection, entry, lacks)
  }
  await noteUnclaimed(db, collection, loose, claimed)
}

function claimCuts(
  collection: Collection,
  loose: Loose,
  cuts: readonly CidText[],
  claimed: Set<CidText>,
  lacks: (cut: CidText) => void,
): void {
  for (const cut of cuts) {
    claimed.add(cut)
    const facts = loose.facts.get(cut)
    if (facts === undefined) lacks(cut)
    else collection.bodies.set(cut, facts)
  }
}

async function claimList(
  db: Database,
  collection: Collection,
  loose: Loose,
  { artifacts: cid, cid: owner }: Entry,
  lacks: (cid: CidText, what: string) => void,
): Promise<void> {
  if (cid === undefined || collection.lists.has(cid)) return
  const list = loose.lists.get(cid)
  if (list === undefined) return lacks(cid, `the list of artifacts of ${owner}`)
  collection.lists.set(cid, list)
  for (const artifact of list) {
    if (collection.artifacts.has(artifact)) continue
    collection.addArtifact(
      artifact,
      loose.raw.has(artifact) ? 'ok' : await checkArtifact(db, artifact),
      owner,
    )
  }
}

async function claimSource(
  db: Database,
  collection: Collection,
  { source: cid, cid: owner }: Entry,
  lacks: (cid: CidText, what: string) => void,
): Promise<void> {
  if (cid === undefined || collection.sources.has(cid)) return
  const [read] = await db.getMany([cid])
  if (read?.state === 'ok') collection.addSource(cid, read.bytes)
  else lacks(cid, `the file as given of ${owner}`)
}

async function noteUnclaimed(
  db: Database,
  collection: Collection,
  loose: Loose,
  claimed: ReadonlySet<CidText>,
): Promise<void> {
  const other = (cid: CidText): void => {
    collection.damage.push(finding('HS1007', 'the block is in the closure of no entry', { cid }))
  }
  for (const cid of [...loose.facts.keys(), ...loose.lists.keys()])
    if (!claimed.has(cid)) other(cid)
  for (const cid of loose.raw)
    if (!collection.artifacts.has(cid) && !collection.sources.has(cid)) other(cid)
  for await (const { cid, path } of listArtifactFiles(db.directory)) {
    if (cid === undefined) {
      collection.damage.push(finding('HS1006', `${path} is not named by the CID of an artifact`))
      continue
    }
    if (collection.artifacts.has(cid) && !loose.raw.has(cid)) continue
    collection.addArtifact(cid, await checkArtifactFile(db.directory, cid))
    other(cid)
  }
}
