import type { CidText } from '../store/cid-text.ts'
import { readAcknowledged, writeAcknowledged } from '../store/acknowledged.ts'
import type { RowChange } from '../store/commit.ts'
import type { Database } from '../store/database.ts'
import { openDatabase } from '../store/database.ts'
import { StoreError } from '../store/errors.ts'
import type { Salvaged } from '../store/rebuild.ts'
import { findDatabaseFault, rebuildDatabase } from '../store/rebuild.ts'
import { HandoffError } from './errors.ts'
import { judgeIndexes, planIndexes } from './graph/judge-indexes.ts'
import type { Counts, LoadedGraph } from './graph/loaded.ts'
import { scanStore } from './graph/scan.ts'
import { finding } from './rules/hstore-rules.ts'
import type { Finding } from './rules/rule.ts'
import { readConfig, writeConfig } from './store-folder.ts'

/** How a store is checked. */
export interface FsckOptions {
  /** The store's `.hstore` folder. */
  readonly folder: string
  /** How long to wait for another process that holds the database, in ms. */
  readonly waitMs: number
  /** Put right what can be put right. */
  readonly rebuild: boolean
}

/** What `fsck` found, and did. */
export interface FsckReport {
  readonly ok: boolean
  readonly checked: Counts
  /** What is damaged or lost: with `rebuild`, what is so still. */
  readonly findings: readonly Finding[]
  /** What was damaged and is put right. */
  readonly mended: readonly Finding[]
  readonly notMade: readonly string[]
  /** Where the damaged database is kept that a new one has replaced. */
  readonly kept: string | null
  /** 0 or 5. */
  readonly exit: 0 | 5
}

/** What a store's blocks and indexes come to. */
interface Examined {
  readonly graph: LoadedGraph
  /** What no rebuild brings back. */
  readonly damage: readonly Finding[]
  /** What is wrong with the indexes, and what makes them right. */
  readonly odd: readonly Finding[]
  readonly changes: readonly RowChange[]
  /** Whether every entry is on the list of those that were acknowledged. */
  readonly isListed: boolean
  /** Whether an entry is on the list, or named elsewhere, and not in the store. */
  readonly isLost: boolean
}

/** What one way of checking gave. */
interface Checked extends Pick<Examined, 'graph' | 'isListed'> {
  readonly findings: readonly Finding[]
  readonly mended: readonly Finding[]
  readonly kept?: string | undefined
}

const notMade = ['who may state what (hstore verify --all)', 'contract rules (hstore validate)']

/**
 * Checks every block, link, signature, index row and artifact of a store, whatever state it is in, and whether every
 * entry that was acknowledged is there. Needs no key, and asks nobody whom to trust.
 *
 * With `rebuild`, LevelDB's own repair is run where the database can't be read; then every index is made from the
 * blocks, and the configuration where it is damaged. A database that can't be read is replaced, never changed.
 *
 * @throws {HandoffError} `HSTORE_STORE_MISSING`, `HSTORE_STORE_FOREIGN`, `HSTORE_VERSION_NEWER`.
 * @throws {StoreError} `HSTORE_STORE_BUSY`, `HSTORE_STORE_FULL`, `HSTORE_STORE_READ_ONLY`; nothing is changed then.
 */
export async function fsck(options: FsckOptions): Promise<FsckReport> {
  const fault = await findConfigFault(options.folder)
  const inPlace = await checkInPlace(options)
  const found = typeof inPlace === 'string' ? await checkSalvaged(options, inPlace) : inPlace
  if (fault === undefined) return report(options, found)
  const isMended = options.rebuild && (await mendConfig(options.folder, found.graph))
  return report(options, {
    ...found,
    findings: isMended ? found.findings : [fault, ...found.findings],
    mended: isMended ? [fault, ...found.mended] : found.mended,
  })
}

function report({ rebuild }: FsckOptions, checked: Checked): FsckReport {
  const { graph, findings, mended, isListed, kept } = checked
  const ok = findings.every(({ severity }) => severity !== 'error')
  const unlisted = 'whether all acknowledged entries are there (the list of them is not whole)'
  return {
    ok,
    checked: graph.counts,
    findings,
    mended,
    notMade: isListed || rebuild ? notMade : [...notMade, unlisted],
    kept: kept ?? null,
    exit: ok ? 0 : 5,
  }
}

/** Returns why the database has to be salvaged, where it has. */
async function checkInPlace({ folder, waitMs, rebuild }: FsckOptions): Promise<Checked | string> {
  try {
    const fault = await findDatabaseFault(folder, waitMs)
    if (fault !== undefined) return `the database can't be read whole (${fault})`
    await using db = await openDatabase(folder, { waitMs })
    const { graph, damage, odd, changes, isListed, isLost } = await examine(db, [])
    if (!rebuild) return { graph, isListed, findings: [...damage, ...odd], mended: [] }
    if (damage.some(isOfBlockRow)) return 'rows of the database are no blocks'
    if (changes.length > 0) await db.commit({ blocks: [], rows: changes })
    if (!isListed || isLost) await writeAcknowledged(folder, graph.entries.keys())
    return { graph, isListed, findings: damage, mended: odd }
  } catch (error) {
    if (error instanceof StoreError && error.code === 'HSTORE_STORE_DAMAGED') return error.message
    throw error
  }
}

/** Rows under the name of a block that hold something else: a new database leaves them out. */
function isOfBlockRow({ code }: Finding): boolean {
  return code === 'HS1002' || code === 'HS1006'
}

async function checkSalvaged(
  { folder, waitMs, rebuild }: FsckOptions,
  reason: string,
): Promise<Checked> {
  let checked: Checked | undefined
  const kept = await rebuildDatabase(folder, waitMs, async (salvaged) => {
    checked = await judgeSalvaged(salvaged, reason)
    return rebuild ? checked.graph.entries.keys() : undefined
  })
  const { graph, findings, mended, isListed } = checked!
  if (kept === undefined) return { graph, isListed, findings: [...mended, ...findings], mended: [] }
  return { graph, isListed, findings, mended, kept }
}

/** Judges a new database of blocks alone, and gives it its indexes. */
async function judgeSalvaged(
  { db, damaged, corrupt, named }: Salvaged,
  reason: string,
): Promise<Checked> {
  const { graph, damage, changes, isListed } = await examine(db, named)
  if (changes.length > 0) await db.commit({ blocks: [], rows: changes })
  const told = new Set(damage.map(({ cid }) => cid))
  const files = damaged.map(({ path, why }) => finding('HS1009', `${path}: ${why}`, { path }))
  return {
    graph,
    isListed,
    findings: [...damage, ...[...corrupt].filter((cid) => !told.has(cid)).map(corruptBlock)],
    mended: files.length > 0 ? files : [finding('HS1009', reason)],
  }
}

function corruptBlock(cid: CidText): Finding {
  return finding('HS1002', 'the bytes of the block do not hash to its CID', { cid })
}

/** @param named - Entries that other rows name. */
async function examine(db: Database, named: Iterable<CidText>): Promise<Examined> {
  const graph = await scanStore(db, () => false)
  const changes = await planIndexes(db, graph)
  // no block says what these hold, but they have to be rows
  for (const index of ['collected', 'made', 'marks'] as const)
    for await (const _rows of db.rowBatches(index, ''));
  const { absent, odd } = judgeIndexes(changes, graph)
  const told = new Set([...graph.damage, ...absent].map(({ cid }) => cid))
  const listed = new Set(named)
  for await (const cid of readAcknowledged(db.directory)) listed.add(cid)
  const lost = [...listed].filter((cid) => !graph.entries.has(cid) && !told.has(cid))
  return {
    graph,
    damage: [...graph.damage, ...absent, ...lost.map(lostEntry)],
    odd,
    changes,
    isListed: [...graph.entries.keys()].every((cid) => listed.has(cid)),
    isLost: [...listed].some((cid) => !graph.entries.has(cid)),
  }
}

function lostEntry(cid: CidText): Finding {
  return finding('HS1010', 'this entry was acknowledged, and the store does not hold it', { cid })
}

async function findConfigFault(folder: string): Promise<Finding | undefined> {
  try {
    await readConfig(folder)
    return undefined
  } catch (error) {
    const isDamaged = error instanceof HandoffError && error.code === 'HSTORE_CONFIG_DAMAGED'
    if (isDamaged) return finding('HS1011', error.message)
    throw error
  }
}

/** The genesis stands in the blocks; who acts by default does not. */
async function mendConfig(folder: string, { entries }: LoadedGraph): Promise<boolean> {
  const founders = [...entries.values()].filter(({ kind, body, store }) => {
    return kind === 'roster' && body === store
  })
  const [genesis, ...others] = new Set(founders.map(({ body }) => body))
  if (genesis === undefined || others.length > 0) return false
  await writeConfig(folder, { format: 1, genesis, agent: undefined })
  return true
}
