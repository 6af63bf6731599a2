import { readEntryList } from '../store/entry-list.ts'
import { listArtifactFiles } from '../store/artifacts.ts'
import type { JsonForm } from '../store/canonical.ts'
import { decodeForm } from '../store/canonical.ts'
import type { CidText } from '../store/cid-text.ts'
import { codecOf } from '../store/cid-text.ts'
import type { Database } from '../store/database.ts'
import { StoreError } from '../store/errors.ts'
import type { Leftover } from '../store/leftovers.ts'
import {
  findLeftover,
  listTemporaryFiles,
  removeEmptyFolders,
  removeUnchanged,
} from '../store/leftovers.ts'
import { linksIn } from '../store/links.ts'
import { entryOfForm, looksLikeEntry } from './entry/decode.ts'
import { findLosses } from './graph/losses.ts'
import { HstoreError } from './kernel/errors.ts'
import { Reached } from './reached.ts'

/** What `gc` took away. */
export interface GcReport {
  /** Blocks that no entry needs. */
  readonly blocks: number
  /** Files of artifacts that no entry needs. */
  readonly artifacts: number
  /** Files that puts left when they were killed. */
  readonly temporary: number
  readonly sizeBytes: number
  /** Files that nothing needs and that are younger than a day: a put may be about to need them. */
  readonly spared: number
}

/** What was dropped, and on what ground. */
interface Dropped {
  readonly reached: Reached
  readonly blocks: number
  readonly sizeBytes: number
}

const dayMs = 24 * 60 * 60 * 1000
const maxScans = 5

/**
 * Deletes blocks and artifact files that no entry leads to, and what killed puts left behind. Entries stay, whatever
 * they are worth. Safe beside puts of other processes, since the database is held, and beside commits of this one, since
 * blocks are deleted only where nothing was committed since they were looked at. No put of this process may be under way.
 *
 * @param nowMs - The time, in ms since 1970.
 * @throws {StoreError} `HSTORE_STORE_DAMAGED` when a block is damaged or lost, or an acknowledged entry is lost: what nothing
 * leads to may be all that is left of something. `HSTORE_STORE_BUSY` when puts of this process leave no moment for it.
 */
export async function collectGarbage(db: Database, nowMs: number): Promise<GcReport> {
  const { reached, blocks, sizeBytes } = await dropBlocks(db)
  const old = (file: Leftover): boolean => nowMs - file.changedMs >= dayMs
  const files = await looseFiles(db.directory, reached)
  const temporary: Leftover[] = []
  for await (const file of listTemporaryFiles(db.directory)) temporary.push(file)
  const removed = [...files, ...temporary].filter((file) => old(file) && removeUnchanged(file))
  await removeEmptyFolders(db.directory, nowMs - dayMs)
  return {
    blocks,
    artifacts: removed.filter((file) => files.includes(file)).length,
    temporary: removed.filter((file) => temporary.includes(file)).length,
    sizeBytes: removed.reduce((sum, file) => sum + file.sizeBytes, sizeBytes),
    spared: files.length + temporary.length - removed.length,
  }
}

async function dropBlocks(db: Database): Promise<Dropped> {
  for (let scans = 0; scans < maxScans; scans++) {
    // a scan sees what is on disk when it begins, and no more
    await db.settled()
    const before = db.commits
    const reached = await reach(db)
    const lost = await findLost(db, reached)
    if (db.commits !== before) continue
    if (lost !== undefined) throw damaged(db, lost)
    const { cids: dropped, sizeBytes } = reached.loose()
    if (dropped.length > 0) {
      // so that a repair of the database, which may find them again, does not bring them back
      const rows = dropped.map((key) => ({ index: 'collected' as const, key, values: [] }))
      await db.commit({ blocks: [], rows, dropped })
      await db.compact()
    }
    return { reached, blocks: dropped.length, sizeBytes }
  }
  const message = `${db.directory}: puts go on all the time: collect when there are none`
  throw new StoreError('HSTORE_STORE_BUSY', message)
}

async function reach(db: Database): Promise<Reached> {
  const reached = new Reached()
  for await (const blocks of db.scanBatches()) {
    for (const { cid, bytes, sound, key } of blocks) {
      if (cid === undefined || !sound) throw damaged(db, `the block ${key} is damaged`)
      reached.hold(cid, bytes.length)
      if (codecOf(cid) === 'raw') continue
      const { form } = decodeForm(bytes)
      reached.link(cid, linksIn(form))
      if (looksLikeEntry(form)) reached.need(cid, partsOf(cid, bytes, form))
    }
  }
  reached.follow()
  return reached
}

/** The blocks that an entry is never without; what only they lead to would seem to be needed by nobody. */
function partsOf(cid: CidText, bytes: Uint8Array, form: { [key: string]: JsonForm }): CidText[] {
  try {
    const { body, artifacts, source } = entryOfForm(cid, bytes, form)
    return [body, artifacts, source].filter((part) => part !== undefined)
  } catch (error) {
    if (error instanceof HstoreError) return []
    throw error
  }
}

async function findLost(db: Database, reached: Reached): Promise<string | undefined> {
  const lost = reached.findLostPart()
  if (lost !== undefined) return `block ${lost.part} of entry ${lost.entry} is lost`
  for await (const cid of readEntryList(db.directory, 'acknowledged')) {
    if (!reached.isHeld(cid)) return `entry ${cid} was acknowledged and is lost`
  }
  for (const cid of await findLosses(db)) return `entry ${cid} is lost (hstore fsck --forget-lost)`
  return undefined
}

function damaged({ directory }: Database, what: string): StoreError {
  const message = `${directory}: ${what}: nothing was collected; run hstore fsck first`
  return new StoreError('HSTORE_STORE_DAMAGED', message)
}

/** A file whose name is no CID is not ours to remove. */
async function looseFiles(directory: string, reached: Reached): Promise<Leftover[]> {
  const files: Leftover[] = []
  for await (const { cid, path } of listArtifactFiles(directory)) {
    const file = cid === undefined || reached.isNeeded(cid) ? undefined : await findLeftover(path)
    if (file !== undefined) files.push(file)
  }
  return files
}
