import { HashedBlock } from '../../store/block.ts'
import type { Block } from '../../store/block.ts'
import { encodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { isCidText } from '../../store/cid-text.ts'
import { entryPrefix, parseEntryKey, parseTipKey } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import { groundIn } from '../context.ts'
import type { Entry } from '../entry/entry.ts'
import { HandoffError } from '../errors.ts'
import { readRow } from '../graph/index-row.ts'
import { quoted } from '../kernel/shown.ts'
import { Cover } from '../trust/cover.ts'
import type { Cut } from '../trust/cut.ts'
import { cutForm, findFreeze } from '../trust/cut.ts'
import type { Ground } from '../trust/ground.ts'
import type { Trust } from '../trust/standing.ts'

/** Where a cut is made. */
export interface CutPlace {
  /** `head`: all that this store holds of the key. Else entries of the key, or freezes, whose pins are taken. */
  readonly at: 'head' | readonly string[]
  /** Entries to leave out; what comes behind them on their chain is listed one by one. */
  readonly except: readonly string[]
}

/** What a cut leaves of one stream. */
export interface CutStream {
  readonly stream: string
  /** The entry that stays good with the highest `seq`; null where none does. */
  readonly last: { readonly cid: CidText; readonly seq: number } | null
  /** How many entries of the key stay good. */
  readonly covered: number
  /** How many do not, and some of them. */
  readonly outside: number
  readonly some: readonly CidText[]
}

/** A cut that is to be made, and what it does to what the store holds. */
export interface CutPlan {
  readonly cid: CidText
  readonly key: string
  readonly pins: readonly CidText[]
  readonly readmitted: readonly CidText[]
  /** Pins whose block is not here: until they come, nothing that is not covered is decided. */
  readonly absent: readonly CidText[]
  readonly streams: readonly CutStream[]
  /** How many entries count although the cut leaves them out: another grant of the key gives them the right. */
  readonly kept: number
  /** Freezes of the key that the cut settles. */
  readonly settles: readonly CidText[]
}

const toldOutside = 5

/** Returns the block of a cut. */
export function cutBlock(cut: Cut): Block {
  return HashedBlock.of(encodeForm(cutForm(cut)), 'dag-json')
}

/**
 * Returns the cut of a key at a place that settles the freezes in force: they are pinned too, for it is made in sight of
 * them. Throws what `planCut` throws.
 */
export async function planSettling(context: Context, key: string, place: CutPlace): Promise<Cut> {
  const cut = await planCut(context, key, place)
  const seen = context.trust.freezesOf(key).map(({ entry }) => entry.cid)
  return { ...cut, pins: [...new Set([...cut.pins, ...seen])].sort() }
}

/**
 * Returns the cut of a key at a place.
 *
 * @throws {HandoffError} `HSTORE_USAGE` for a place that is no entry of the key.
 */
export async function planCut(context: Context, key: string, place: CutPlace): Promise<Cut> {
  const ground = groundIn(context.db, context.marks)
  const starts = place.at === 'head' ? await tipsOf(context, key) : pinsAt(ground, key, place.at)
  const except = new Set(place.except.map((text) => ownEntry(ground, key, text)))
  const { pins, readmitted } = without(ground, starts, except)
  return { key, pins: [...pins].sort(), readmitted: [...readmitted].sort() }
}

/** Returns the tips of a key's chains in all streams that the store holds. */
export async function tipsOf(context: Context, key: string): Promise<readonly CidText[]> {
  const tips: CidText[] = []
  for (const stream of await streamsOfKey(context, key)) {
    const entries = await readRow(context, { index: 'tips', stream, signer: key })
    tips.push(...entries.map(({ cid }) => cid))
  }
  return tips
}

async function streamsOfKey({ db }: Context, key: string): Promise<readonly string[]> {
  await db.settled()
  const streams: string[] = []
  for await (const row of db.rows('tips', '')) {
    const { stream, signer } = parseTipKey(row.key)
    if (signer === key) streams.push(stream)
  }
  return streams
}

/** An entry that is not here may be known to the roots from elsewhere; one of another key is a mistake. */
function pinsAt(ground: Ground, key: string, texts: readonly string[]): readonly CidText[] {
  return texts.flatMap((text) => {
    if (!isCidText(text)) throw noPin(text, key)
    const entry = ground.findEntry(text)
    if (entry === 'absent') return [text]
    if (entry === 'other' || entry.signer !== key) throw noPin(text, key)
    if (entry.kind !== 'freeze') return [text]
    const form = ground.findForm(entry.body)
    const freeze = typeof form === 'string' ? undefined : findFreeze(form)
    return [...(freeze?.pins ?? []), text]
  })
}

function ownEntry(ground: Ground, key: string, text: string): CidText {
  const entry = isCidText(text) ? ground.findEntry(text) : 'other'
  if (typeof entry === 'string' || entry.signer !== key) throw noPin(text, key)
  return entry.cid
}

function noPin(text: string, key: string): HandoffError {
  return new HandoffError(
    'HSTORE_USAGE',
    `${quoted(text)} is no entry of ${key}: a cut names entries of the key by their CIDs`,
  )
}

/** Returns pins and single entries that cover what `starts` cover, but for `except`. */
function without(
  ground: Ground,
  starts: readonly CidText[],
  except: ReadonlySet<CidText>,
): { readonly pins: ReadonlySet<CidText>; readonly readmitted: ReadonlySet<CidText> } {
  const pins = new Set<CidText>()
  const readmitted = new Set<CidText>()
  if (except.size === 0) return { pins: new Set(starts), readmitted }
  const entries = behind(ground, starts, except)
  const above = new Set<CidText>(except)
  for (const { cid, prev } of [...entries.values()].sort((a, b) => a.seq - b.seq)) {
    if (prev.some((link) => above.has(link))) above.add(cid)
  }
  for (const start of starts) if (!above.has(start)) pins.add(start)
  for (const cid of above) {
    if (!except.has(cid)) readmitted.add(cid)
    for (const link of entries.get(cid)?.prev ?? []) if (!above.has(link)) pins.add(link)
  }
  return { pins, readmitted }
}

/** Returns what `starts` go back to, as far down as an excepted entry may be. */
function behind(
  ground: Ground,
  starts: readonly CidText[],
  except: ReadonlySet<CidText>,
): ReadonlyMap<CidText, Entry> {
  const lowest = new Map<string, number>()
  for (const cid of except) {
    const entry = ground.findEntry(cid)
    if (typeof entry === 'string') continue
    lowest.set(entry.stream, Math.min(lowest.get(entry.stream) ?? Infinity, entry.seq))
  }
  const found = new Map<CidText, Entry>()
  const waiting = new Set(starts)
  for (const cid of waiting) {
    const entry = ground.findEntry(cid)
    if (typeof entry === 'string' || entry.seq < (lowest.get(entry.stream) ?? Infinity)) continue
    found.set(cid, entry)
    for (const link of entry.prev) waiting.add(link)
  }
  return found
}

/** What a cut is told under. */
export interface Telling {
  /** The trust that the roster with the cut gives. */
  readonly trust: Trust
  /** It was made at the head, with nothing left out. */
  readonly isWhole?: boolean
}

/**
 * Returns what a cut does to what the store holds of its key.
 *
 * @param telling - Without it the cover alone counts, as of a freeze.
 */
export async function tellCut(context: Context, cut: Cut, telling?: Telling): Promise<CutPlan> {
  const ground = groundIn(context.db, context.marks)
  const cover = new Cover(ground, cut)
  const { cid } = cutBlock(cut)
  const teller = { ground, cover, cut, trust: telling?.trust, kept: 0 }
  const isAll = telling?.isWhole === true && closesEverything(telling.trust, cut.key, cid)
  const streams: CutStream[] = []
  for (const stream of await streamsOfKey(context, cut.key)) {
    streams.push(await tellStream(context, isAll ? undefined : teller, cut.key, stream))
  }
  const { key, pins, readmitted } = cut
  const settles = context.trust
    .freezesOf(key)
    .filter(({ entry }) => cover.has(entry) === 'yes')
    .map(({ entry }) => entry.cid)
  return {
    cid,
    key,
    pins,
    readmitted,
    absent: pins.filter((pin) => ground.findEntry(pin) === 'absent'),
    streams,
    kept: teller.kept,
    settles,
  }
}

/** A cut at the head that closes a grant for everything leaves nothing out: rows tell then, and no block is read. */
function closesEverything({ roster }: Trust, key: string, cut: CidText): boolean {
  const keys = roster.agents.flatMap((agent) => agent.keys)
  const grants = keys.find(({ did }) => did === key)?.grants ?? []
  return grants.some(
    ({ kinds, streams, until }) => until === cut && kinds.join() === '*' && streams.join() === '*',
  )
}

interface Teller {
  readonly ground: Ground
  readonly cover: Cover
  readonly cut: Cut
  readonly trust: Trust | undefined
  kept: number
}

/** Rows say which entries the key has; what of them stays good, blocks say. */
async function tellStream(
  { db }: Context,
  teller: Teller | undefined,
  key: string,
  stream: string,
): Promise<CutStream> {
  const behind = teller?.cover.allIn(stream)
  const single = new Set(teller?.cut.readmitted)
  let last: CutStream['last'] = null
  let covered = 0
  let outside = 0
  const some: CidText[] = []
  for await (const rows of db.rowBatches('entries', entryPrefix(stream))) {
    for (const { key: row, values } of rows) {
      const { cid, seq } = parseEntryKey(row)
      if (!values.includes(key)) continue
      const isCovered = behind === undefined || behind.has(cid) || single.has(cid)
      if (teller === undefined || staysGood(teller, cid, isCovered)) {
        covered += 1
        last = { cid, seq }
      } else {
        outside += 1
        if (some.length < toldOutside) some.push(cid)
      }
    }
  }
  return { stream, last, covered, outside, some }
}

/** Other grants of the key count too, and one that the cut closes may not fit the entry. */
function staysGood(teller: Teller, cid: CidText, isCovered: boolean): boolean {
  const { ground, trust } = teller
  const entry = trust === undefined ? 'other' : ground.findEntry(cid)
  if (trust === undefined || typeof entry === 'string') return isCovered
  const isGood = trust.standingOf(entry).standing === 'valid'
  if (isGood && !isCovered && entry.kind !== 'roster' && entry.kind !== 'freeze') teller.kept += 1
  return isGood
}
