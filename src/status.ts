import type { CidText } from '../store/cid-text.ts'
import { parseEntryKey } from '../store/keyspace.ts'
import { replacedDatabases } from '../store/place.ts'
import type { Context } from './context.ts'
import { decodeEntry } from './entry/decode.ts'
import type { Entry } from './entry/entry.ts'
import { familyOf } from './entry/kinds.ts'
import { findLosses } from './graph/losses.ts'
import { headsOf, streamsOf } from './graph/ref.ts'
import { HstoreError } from './kernel/errors.ts'
import { allKeys } from './key-verbs.ts'
import { readMarks } from './sync/remote-marks.ts'
import { Remotes } from './sync/remotes.ts'
import { finding } from './rules/hstore-rules.ts'
import type { Finding } from './rules/rule.ts'

/** A head as `status` shows it. */
export interface StatusHead {
  readonly cid: string
  readonly revision: string
  readonly author: string
}

/** An entry that does not count, and why. */
export interface Uncounted {
  readonly cid: string
  readonly stream: string
  readonly author: string
  readonly why: string
}

/** How a remote was when it was last heard. */
export interface RemoteStatus {
  readonly name: string
  readonly url: string
  /** In ms since 1970; 0 for never. */
  readonly contactMs: number
  /** Entries that it had and this store had not, afterwards. */
  readonly behind: number
  /** Entries that this store had and it had not. */
  readonly ahead: number
}

/** How a store stands. */
export interface StatusReport {
  readonly store: string
  readonly genesis: string
  /** Version of the highest accepted roster. */
  readonly roster: number
  /** The heads of every stream but the roster's and those of what a key attests, which have none. */
  readonly streams: readonly { readonly stream: string; readonly heads: readonly StatusHead[] }[]
  /** Streams with two or more heads. */
  readonly forks: readonly string[]
  /** Entries that wait for a roster's decision. */
  readonly held: readonly Uncounted[]
  /** Entries without the right to state what they state, or by nobody that the roster knows. */
  readonly rejected: readonly Uncounted[]
  /** Entries by keys of this machine that this store has not made: by a copy of the key, or of the store. */
  readonly elsewhere: readonly Uncounted[]
  /** Entries that rebuilds of a damaged database went on without. */
  readonly lost: readonly string[]
  /** Entries that can't be read. */
  readonly damage: readonly Finding[]
  /** Damaged databases that a rebuild has replaced and kept. */
  readonly kept: readonly string[]
  /** This user's remotes, as they were at the last contact. */
  readonly remotes: readonly RemoteStatus[]
  readonly notMade: readonly string[]
  /** 0, or 5 when there is damage. */
  readonly exit: 0 | 5
}

const hasNoHeads: ReadonlySet<string> = new Set(['log', 'roster'])
const batchSize = 256
const notMade = ['signatures (hstore verify --all)', 'bodies and artifacts (hstore fsck)']

/** Returns how a store stands: reads every entry, but neither bodies nor artifacts. */
export async function statusOf(context: Context): Promise<StatusReport> {
  const { folder, config, trust, db } = context
  const streams = []
  for (const stream of await streamsOf(context)) {
    if (hasNoHeads.has(familyOf(stream))) continue
    const heads = await headsOf(context, stream)
    streams.push({ stream, heads: heads.map(headOf) })
  }
  const entries = await judgeAll(context)
  return {
    store: folder,
    genesis: config.genesis,
    roster: trust.roster.version,
    streams,
    forks: streams.filter(({ heads }) => heads.length > 1).map(({ stream }) => stream),
    ...entries,
    lost: await findLosses(db),
    kept: replacedDatabases(db.directory),
    remotes: await remotesOf(context),
    notMade,
    exit: entries.damage.length > 0 ? 5 : 0,
  }
}

async function remotesOf({ folder, keysFolder, trust }: Context): Promise<RemoteStatus[]> {
  const remotes = await Remotes.open(folder, keysFolder, trust.genesis)
  const found: RemoteStatus[] = []
  for (const { name, url } of await remotes.list()) {
    const { contactMs, behind, ahead } = await readMarks(keysFolder, trust.genesis, url)
    found.push({ name, url, contactMs, behind, ahead })
  }
  return found
}

function headOf({ cid, name, kind, author }: Entry): StatusHead {
  return { cid, revision: name ?? kind, author }
}

interface Judged {
  readonly held: Uncounted[]
  readonly rejected: Uncounted[]
  readonly elsewhere: Uncounted[]
  readonly damage: Finding[]
}

async function judgeAll(context: Context): Promise<Judged> {
  const { db, keysFolder } = context
  const own = new Set((await allKeys(keysFolder)).map(({ did }) => did))
  const made = await context.marks.made()
  const judged: Judged = { held: [], rejected: [], elsewhere: [], damage: [] }
  let cids: CidText[] = []
  const judge = async (): Promise<void> => {
    for (const [i, read] of (await db.getMany(cids)).entries()) {
      const cid = cids[i]!
      const entry = read.state === 'ok' ? decodeOr(judged, cid, read.bytes) : undefined
      if (entry !== undefined) addEntry(context, judged, entry, own, made)
      else if (read.state !== 'ok') judged.damage.push(damageOf(cid, read.state))
    }
    cids = []
  }
  for await (const rows of db.rowBatches('entries', '')) {
    for (const { key } of rows) if (cids.push(parseEntryKey(key).cid) >= batchSize) await judge()
  }
  await judge()
  return judged
}

function addEntry(
  { trust }: Context,
  { held, rejected, elsewhere }: Judged,
  entry: Entry,
  own: ReadonlySet<string>,
  made: ReadonlySet<CidText>,
): void {
  const { cid, stream, author, signer } = entry
  const { standing, why } = trust.standingOf(entry)
  const at = { cid, stream, author }
  if (standing === 'held') held.push({ ...at, why })
  else if (standing !== 'valid') rejected.push({ ...at, why })
  if (own.has(signer) && !made.has(cid)) {
    elsewhere.push({ ...at, why: `signed by ${signer}, and not made by this store` })
  }
}

function decodeOr({ damage }: Judged, cid: CidText, bytes: Uint8Array): Entry | undefined {
  try {
    return decodeEntry(cid, bytes)
  } catch (error) {
    if (!(error instanceof HstoreError)) throw error
    const isNewer = error.code === 'HSTORE_VERSION_NEWER'
    damage.push(finding(isNewer ? 'HS1005' : 'HS1004', error.message, { cid }))
    return undefined
  }
}

function damageOf(cid: CidText, state: 'corrupt' | 'missing'): Finding {
  return state === 'missing'
    ? finding('HS1001', 'an index names this entry, and the store does not hold it', { cid })
    : finding('HS1002', 'the bytes of the entry do not hash to its CID', { cid })
}
