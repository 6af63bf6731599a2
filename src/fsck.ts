import { CidSet } from '../store/cid-set.ts'
import type { CidText } from '../store/cid-text.ts'
import { isCidText } from '../store/cid-text.ts'
import { readEntryList, writeEntryList } from '../store/entry-list.ts'
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
import type { StoreConfig } from './store-folder.ts'
import { readConfig, writeConfig } from './store-folder.ts'

/** How a store is checked. */
export interface FsckOptions {
  /** The store's `.hstore` folder. */
  readonly folder: string
  /** How long to wait for another process that holds the database, in ms. */
  readonly waitMs: number
  /** Put right what can be put right. */
  readonly rebuild: boolean
  /** Name no more what earlier rebuilds went on without. */
  readonly forgetLost: boolean
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
  /** Entries that are on a list, or named elsewhere, and not in the store. */
  readonly lost: readonly CidText[]
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
  const config = await readConfigOrFault(options.folder)
  const inPlace = await checkInPlace(options)
  const found = typeof inPlace === 'string' ? await checkSalvaged(options, inPlace) : inPlace
  const fault = judgeConfig(config, found.graph)
  if (fault === undefined) return report(options, found)
  const isMended = options.rebuild && (await mendConfig(options.folder, config, found.graph))
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
async function checkInPlace(options: FsckOptions): Promise<Checked | string> {
  const { folder, waitMs, rebuild, forgetLost } = options
  try {
    const fault = await findDatabaseFault(folder, waitMs)
    if (fault !== undefined) return `the database can't be read whole (${fault})`
    await using db = await openDatabase(folder, { waitMs, scans: true })
    const { graph, damage, odd, changes, isListed, lost } = await examine(db, [], forgetLost)
    if (forgetLost && !rebuild) await writeEntryList(folder, 'lost', [])
    if (!rebuild) return { graph, isListed, findings: [...damage, ...odd], mended: [] }
    if (damage.some(isOfBlockRow)) return 'rows of the database are no blocks'
    if (changes.length > 0) await db.commit({ blocks: [], rows: changes })
    await writeEntryList(folder, 'lost', lost)
    if (!isListed || lost.length > 0)
      await writeEntryList(folder, 'acknowledged', graph.entries.keys())
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
  { folder, waitMs, rebuild, forgetLost }: FsckOptions,
  reason: string,
): Promise<Checked> {
  let checked: (Checked & Pick<Examined, 'lost'>) | undefined
  const kept = await rebuildDatabase(folder, waitMs, async (salvaged) => {
    checked = await judgeSalvaged(salvaged, reason, forgetLost)
    const { graph, lost } = checked
    return rebuild ? { entries: graph.entries.keys(), lost } : undefined
  })
  const { graph, findings, mended, isListed } = checked!
  if (kept === undefined) return { graph, isListed, findings: [...mended, ...findings], mended: [] }
  return { graph, isListed, findings, mended, kept }
}

/** Judges a new database of blocks alone, and gives it its indexes. */
async function judgeSalvaged(
  { db, damaged, corrupt, named }: Salvaged,
  reason: string,
  forgetLost: boolean,
): Promise<Checked & Pick<Examined, 'lost'>> {
  const { graph, damage: all, changes, isListed, lost } = await examine(db, named, forgetLost)
  const dropped = collectedIn(db, all)
  await db.commit({ blocks: [], rows: changes, dropped: [...dropped] })
  graph.counts.blocks -= dropped.size
  const damage = all.filter(({ cid }) => !isCidText(cid) || !dropped.has(cid))
  const told = new Set(damage.map(({ cid }) => cid))
  const files = damaged.map(({ path, why }) => finding('HS1009', `${path}: ${why}`, { path }))
  return {
    graph,
    isListed,
    lost,
    findings: [...damage, ...[...corrupt].filter((cid) => !told.has(cid)).map(corruptBlock)],
    mended: files.length > 0 ? files : [finding('HS1009', reason)],
  }
}

/** Blocks that no entry needs and that were collected: LevelDB's repair finds what was deleted, too. */
function collectedIn(db: Database, damage: readonly Finding[]): ReadonlySet<CidText> {
  const loose = damage.flatMap(({ code, cid }) =>
    code === 'HS1007' && isCidText(cid) ? [cid] : [],
  )
  return new Set(loose.filter((cid) => db.readRow('collected', cid) !== undefined))
}

function corruptBlock(cid: CidText): Finding {
  return finding('HS1002', 'the bytes of the block do not hash to its CID', { cid })
}

/**
 * @param named - Entries that other rows name.
 * @param forgetLost - Says nothing of what earlier rebuilds went on without.
 */
async function examine(
  db: Database,
  named: Iterable<CidText>,
  forgetLost: boolean,
): Promise<Examined> {
  const graph = await scanStore(db, () => false, { documents: false })
  const { changes } = await planIndexes(db, graph)
  // no block says what these hold, but they have to be rows
  for (const index of ['collected', 'made', 'marks'] as const)
    for await (const _rows of db.rowBatches(index, ''));
  const { absent, odd } = judgeIndexes(changes, graph)
  const told = new Set([...graph.damage, ...absent].map(({ cid }) => cid))
  const listed = new CidSet()
  for (const cid of named) listed.add(cid)
  for await (const cid of readEntryList(db.directory, 'acknowledged')) listed.add(cid)
  const known = new CidSet()
  if (!forgetLost) for await (const cid of readEntryList(db.directory, 'lost')) known.add(cid)
  const lost: CidText[] = []
  for (const cid of listed) if (!graph.entries.has(cid)) lost.push(cid)
  for (const cid of known) if (!graph.entries.has(cid) && !listed.has(cid)) lost.push(cid)
  const untold = lost.filter((cid) => !told.has(cid))
  return {
    graph,
    damage: [
      ...graph.damage,
      ...absent,
      ...untold.map((cid) => (listed.has(cid) ? lostEntry(cid) : knownLoss(cid))),
    ],
    odd,
    changes,
    isListed: areIn(listed, graph.entries.keys()),
    lost,
  }
}

function areIn(set: CidSet, cids: Iterable<CidText>): boolean {
  for (const cid of cids) if (!set.has(cid)) return false
  return true
}

function lostEntry(cid: CidText): Finding {
  return finding('HS1010', 'this entry was acknowledged, and the store does not hold it', { cid })
}

function knownLoss(cid: CidText): Finding {
  return finding('HS1012', 'this entry was lost with a database that a rebuild replaced', { cid })
}

/** The configuration, or what is wrong with it. */
async function readConfigOrFault(folder: string): Promise<StoreConfig | string> {
  try {
    return readConfig(folder)
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'HSTORE_CONFIG_DAMAGED')
      return error.message
    throw error
  }
}

function judgeConfig(config: StoreConfig | string, graph: LoadedGraph): Finding | undefined {
  if (typeof config === 'string') return finding('HS1011', config)
  const held = genesesIn(graph)
  if (held.has(config.genesis)) return undefined
  if (held.size === 0) {
    const message = 'the roster that names the store is not in it: nobody can be trusted here'
    return finding('HS1001', message, { cid: config.genesis })
  }
  const message = `config.json names the genesis ${config.genesis}, and the store holds ${[...held].join(', ')}`
  return finding('HS1011', message)
}

/** The genesis stands in the blocks; who acts by default does not. */
async function mendConfig(
  folder: string,
  config: StoreConfig | string,
  graph: LoadedGraph,
): Promise<boolean> {
  const [genesis, ...others] = genesesIn(graph)
  if (genesis === undefined || others.length > 0) return false
  const agent = typeof config === 'string' ? undefined : config.agent
  await writeConfig(folder, { format: 1, genesis, agent })
  return true
}

function genesesIn({ entries }: LoadedGraph): ReadonlySet<CidText> {
  const geneses = new Set<CidText>()
  for (const { kind, body, store } of entries.values())
    if (kind === 'roster' && body === store) geneses.add(body)
  return geneses
}
