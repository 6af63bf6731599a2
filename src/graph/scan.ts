import { checkArtifact, checkArtifactFile, listArtifactFiles } from '../../store/artifacts.ts'
import type { ScannedBlock } from '../../store/block-store.ts'
import type { JsonMap } from '../../store/canonical.ts'
import { decodeForm } from '../../store/canonical.ts'
import { CidTable } from '../../store/cid-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { looksLikeEntry } from '../entry/decode.ts'
import type { Entry } from '../entry/entry.ts'
import { HstoreError } from '../kernel/errors.ts'
import { Numbers } from '../kernel/numbers.ts'
import { finding } from '../rules/hstore-rules.ts'
import { findArtifacts } from './body.ts'
import { Collection } from './collect.ts'
import type { BodyFacts, LoadedGraph } from './loaded.ts'

/** Signatures checked at once, at most: more only take memory. */
const underWay = 512

const unread: BodyFacts = { kind: 'other' }

/** An entry names it, as a body or otherwise. */
const isClaimed = 1
/** An entry names it as its list of artifacts. */
const isListed = 2

/** How a block is taken in. */
interface BlockOptions {
  readonly isMarked: (cid: CidText) => boolean
  readonly documents: boolean
}

/** What is known of blocks beside what they say. */
interface Found {
  /** The raw ones. */
  readonly raw: CidTable
  /** `isClaimed` and `isListed`, by the number of a CID. */
  readonly claimed: Numbers
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
  const found: Found = { raw: new CidTable(), claimed: new Numbers() }
  for await (const blocks of db.scanBatches()) {
    for (const block of blocks) addBlock(collection, found, block, { isMarked, documents })
    await collection.settle(underWay)
  }
  await collection.settle(0)
  await claim(db, collection, found)
  return collection
}

function addBlock(
  collection: Collection,
  found: Found,
  { cid, bytes, sound, key }: ScannedBlock,
  options: BlockOptions,
): void {
  collection.counts.blocks += 1
  if (cid === undefined) {
    collection.damage.push(finding('HS1006', `${JSON.stringify(key)} names a block and is no CID`))
  } else if (!sound) collection.addDamage(cid, 'corrupt', 'the block')
  else if (codecOf(cid) === 'raw') found.raw.add(cid)
  else addDagJson(collection, cid, bytes, options)
}

function addDagJson(
  collection: Collection,
  cid: CidText,
  bytes: Uint8Array,
  { isMarked, documents }: BlockOptions,
): void {
  try {
    const { form } = decodeForm(bytes)
    const list = findArtifacts(form)
    if (looksLikeEntry(form)) collection.addEntryForm(cid, bytes, form, isMarked)
    else if (list === undefined) collection.bodies.set(cid, factsIn(collection, form, documents))
    else collection.lists.set(cid, list)
  } catch (error) {
    if (!(error instanceof HstoreError)) throw error
    collection.damage.push(finding('HS1003', error.message, { cid }))
  }
}

/** Of a document that nobody asks for it is enough that it is there; cuts are of rosters, and linked from them. */
function factsIn(collection: Collection, form: JsonMap, documents: boolean): BodyFacts {
  return documents || Object.hasOwn(form, 'roots') ? collection.guessFacts(form) : unread
}

/** Notes what entries name that is not there, and then what none of them names. */
async function claim(db: Database, collection: Collection, found: Found): Promise<void> {
  const damaged = new Set(collection.damage.map(({ cid }) => cid))
  const lacks = (cid: CidText, what: string): void => {
    if (!damaged.has(cid)) collection.addDamage(cid, 'missing', what)
    damaged.add(cid)
  }
  for (const entry of collection.entries.values()) {
    const { artifacts, body, cid, kind } = entry
    const facts = claimBody(collection, found, body)
    if (facts === undefined) lacks(body, `the body of ${cid}`)
    else if (kind === 'roster' && facts.kind === 'roster') {
      for (const cut of facts.cuts)
        if (claimBody(collection, found, cut) === undefined) lacks(cut, `a cut of ${body}`)
    }
    for (const link of [...entry.parents, ...entry.prev]) {
      if (!collection.entries.has(link)) lacks(link, `an entry that ${cid} follows`)
    }
    if (artifacts !== undefined) await claimList(db, collection, found, { artifacts, cid }, lacks)
    if (entry.source !== undefined) await claimSource(db, collection, entry, lacks)
  }
  await noteUnclaimed(db, collection, found)
}

function claimBody(
  collection: Collection,
  { claimed }: Found,
  cid: CidText,
): BodyFacts | undefined {
  const number = collection.cids.add(cid)
  claimed.set(number, claimed.at(number) | isClaimed)
  return collection.bodies.get(cid)
}

async function claimList(
  db: Database,
  collection: Collection,
  { claimed, raw }: Found,
  { artifacts: cid, cid: owner }: { readonly artifacts: CidText; readonly cid: CidText },
  lacks: (cid: CidText, what: string) => void,
): Promise<void> {
  const number = collection.cids.add(cid)
  if ((claimed.at(number) & isListed) > 0) return
  claimed.set(number, isClaimed | isListed)
  const list = collection.lists.get(cid)
  if (list === undefined) return lacks(cid, `the list of artifacts of ${owner}`)
  for (const artifact of list) {
    if (collection.artifacts.has(artifact)) continue
    const state = raw.find(artifact) === undefined ? await checkArtifact(db, artifact) : 'ok'
    collection.addArtifact(artifact, state, owner)
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
  { claimed, raw }: Found,
): Promise<void> {
  const other = (cid: CidText): void => {
    collection.damage.push(finding('HS1007', 'the block is in the closure of no entry', { cid }))
  }
  for (const blocks of [collection.bodies, collection.lists]) {
    const loose = [...blocks.numbers()].filter((number) => claimed.at(number) === 0)
    for (const cid of loose.map((number) => collection.cids.at(number)).sort()) other(cid)
  }
  for (let number = 0; number < raw.size; number++) {
    const cid = raw.at(number)
    if (!collection.artifacts.has(cid) && !collection.sources.has(cid)) other(cid)
  }
  for await (const { cid, path } of listArtifactFiles(db.directory)) {
    if (cid === undefined) {
      collection.damage.push(finding('HS1006', `${path} is not named by the CID of an artifact`))
      continue
    }
    if (collection.artifacts.has(cid) && raw.find(cid) === undefined) continue
    collection.addArtifact(cid, await checkArtifactFile(db.directory, cid))
    other(cid)
  }
}
