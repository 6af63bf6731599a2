import type { Aligned, Behind, Broken } from '../contracts/turns/align.ts'
import { alignTurns, isSame } from '../contracts/turns/align.ts'
import { getLock } from '../contracts/turns/lock.ts'
import type { PlacedTurn, Relay } from '../contracts/turns/markdown.ts'
import { readRelay } from '../contracts/turns/markdown.ts'
import { findOddities } from '../contracts/turns/oddities.ts'
import type { Placement, TurnsNow } from '../contracts/turns/placement.ts'
import type { RelayNote } from '../contracts/turns/relay-body.ts'
import { partsOfRelay } from '../contracts/turns/relay-parts.ts'
import { withLineFeeds } from '../contracts/turns/text.ts'
import type { Turn } from '../contracts/turns/turn.ts'
import { HandoffError } from '../errors.ts'
import { bounded, quoted } from '../kernel/shown.ts'
import type { Finding } from '../rules/rule.ts'
import { behindError, changedError } from './change-errors.ts'
import { filePlaces } from './file-places.ts'
import type { RelayFiles } from './files.ts'
import type { ChainedTurn } from './line.ts'
import type { RelayState } from './state.ts'
import type { NamedTurn } from './write.ts'

/** What an import is to write, worked out without a write. */
export interface ImportPlan {
  readonly added: readonly NamedTurn[]
  readonly note: Omit<RelayNote, 'ahead' | 'head'>
  /** Places in the chain with `added` behind it, in the order of the archive, then of the relay. */
  readonly order: readonly number[]
  readonly report: FileReport
  /** Returns where the longest text that is in no turn begins. */
  readonly whereLoose: () => string
}

/** What is told of a relay's files. */
export interface FileReport {
  readonly relay: string
  readonly stream: string
  /** How many turns the relay has. */
  readonly turns: number
  /** How many of them are new. */
  readonly added: number
  /** How many went to the archive since the import before. */
  readonly archived: number
  /** How many old ones have blank lines folded, as M8Shift's `archive` leaves them. */
  readonly folded: number
  /** How many old ones have other blank lines than in the store, and not as M8Shift's `archive` leaves them. */
  readonly respaced: number
  /** What M8Shift passes over in silence. */
  readonly findings: readonly Finding[]
  readonly warnings: readonly string[]
}

/** Returns what an import is to write; throws what `importRelay` throws for files that it does not take in. */
export function planImport(relay: string, files: RelayFiles, state: RelayState): ImportPlan {
  const living = readRelay(files.living.bytes)
  const archive = files.archive && readRelay(files.archive.bytes)
  const now = { living: turnsOf(living), archive: archive === undefined ? [] : turnsOf(archive) }
  const aligned = getAligned(relay, files, state, now)
  const { added, archived, folded, older, respaced } = aligned
  const chain = [...state.chain.map(({ turn }) => turn), ...added]
  const textOf = (place: number): string => chain[place]!.text
  const isArchived = archive !== undefined && archive.segments.length > 0
  const note = {
    living: partsOfRelay(living, aligned.living, textOf),
    archive: isArchived ? partsOfRelay(archive, aligned.archive, textOf) : undefined,
    turns: chain.length,
    version: 1 + (state.note?.version ?? 0),
  }
  const { roster, warnings } = readLock(living, files.living.name)
  const findings = findOddities(
    { relay: living, path: 'M8SHIFT.md' },
    archive && { relay: archive, path: 'M8SHIFT.archive.md' },
    roster,
  )
  const counts = { turns: chain.length, added: added.length, archived, folded, respaced }
  return {
    added: named(added, files, archive?.turns ?? [], living.turns),
    note,
    order: [...aligned.archive, ...aligned.living],
    whereLoose: () => whereLoose(files, living, archive),
    report: {
      relay,
      stream: state.stream,
      ...counts,
      findings,
      warnings: [...warnings, ...olderTold(older, files)],
    },
  }
}

function getAligned(relay: string, files: RelayFiles, state: RelayState, now: TurnsNow): Aligned {
  const aligned = align(relay, files, state, now)
  if (aligned.kind === 'aligned') {
    if (files.living.bytes.length === 0) throw empty(files.living.name)
    return aligned
  }
  refuseBadBytes(files)
  throw aligned.kind === 'behind'
    ? behindError(relay, files, state, aligned)
    : changedError(relay, files, state, aligned)
}

/** The files may be what the latest note says, as another store saw them, or what this one saw last. */
function align(
  relay: string,
  files: RelayFiles,
  state: RelayState,
  now: TurnsNow,
): Aligned | Behind | Broken {
  const { note, places, seen } = state
  const last = placementOf(state, { note, places }, now)
  const own = seen && seen.note.cid !== note?.cid ? placementOf(state, seen, now) : last
  if (files.archive === undefined && own.archive.length > 0) throw archiveNeeded(relay)
  const needsArchive = files.archive === undefined && last.archive.length > 0
  const aligned = needsArchive ? undefined : alignTurns(last, now)
  return aligned?.kind === 'aligned' || (aligned && own === last) ? aligned : alignTurns(own, now)
}

/** A file with a byte that is no UTF-8 has no turns for M8Shift: those of before were not removed. */
function refuseBadBytes({ living, archive }: RelayFiles): void {
  for (const { name, bytes } of archive === undefined ? [living] : [living, archive]) {
    const { badByte } = readRelay(bytes)
    if (badByte === undefined) continue
    throw new HandoffError(
      'HSTORE_RELAY_INVALID',
      `HS4301: ${name} line ${badByte.line}: byte ${badByte.offset} of the file is no UTF-8: nothing was imported`,
    )
  }
}

function turnsOf({ turns }: Relay): readonly Turn[] {
  return turns.map(({ turn }) => turn)
}

/** Returns turns with where they stand in the files. */
function named(
  turns: readonly Turn[],
  files: RelayFiles,
  archive: readonly PlacedTurn[],
  living: readonly PlacedTurn[],
): NamedTurn[] {
  const lines = new Map([
    ...archive.map(({ turn, line }) => [turn, `${files.archive!.name} line ${line}`] as const),
    ...living.map(({ turn, line }) => [turn, `${files.living.name} line ${line}`] as const),
  ])
  return turns.map((turn) => ({
    turn,
    where: `${lines.get(turn)}: turn ${bounded(turn.number)} of ${bounded(turn.agent)}`,
  }))
}

/** Turns that no note has placed come last in the relay, but where branches are to be joined, which its order decides. */
function placementOf(
  { chain, isForked, unseen }: RelayState,
  { note, places }: Pick<RelayState, 'note' | 'places'>,
  now: TurnsNow,
): Placement {
  const { archive, living } = filePlaces({ chain, note, places })
  return {
    chain: chain.map(({ turn }) => turn),
    archive,
    living: isForked ? inFileOrder(chain, archive, living, now.living) : living,
    hadArchive: note?.archive !== undefined,
    unseen,
    loose: looseOf(note),
  }
}

function looseOf(note: RelayNote | undefined): string[] {
  return [...(note?.archive ?? []), ...(note?.living ?? [])].flatMap((part) => {
    const text = typeof part === 'string' ? part : 'between' in part ? part.between : ''
    return text === '' ? [] : [withLineFeeds(text)]
  })
}

function whereLoose(files: RelayFiles, living: Relay, archive: Relay | undefined): string {
  const longest = { where: files.living.name, size: 0 }
  for (const [name, relay] of [
    [files.living.name, living],
    [files.archive?.name ?? '', archive],
  ] as const) {
    let line = 1
    for (const { kind, raw } of relay?.segments ?? []) {
      if (kind === 'loose' && raw.length > longest.size) {
        longest.size = raw.length
        longest.where = `${name} line ${line}`
      }
      line +=
        Buffer.from(raw)
          .toString('latin1')
          .match(/\r\n?|\n/g)?.length ?? 0
    }
  }
  return longest.where
}

/** Any order will do in which each turn stands behind those that it follows. */
function inFileOrder(
  chain: readonly ChainedTurn[],
  archive: readonly number[],
  living: readonly number[],
  turns: readonly Turn[],
): number[] {
  const taken = new Set(archive)
  const left = new Set(living)
  for (const turn of turns) {
    let place: number | undefined
    for (const one of left) {
      const { turn: old, behind } = chain[one]!
      if (!isSame(old, turn) || !behind.every((other) => taken.has(other))) continue
      place = one
      break
    }
    if (place === undefined) break
    taken.add(place)
    left.delete(place)
  }
  const inOrder = [...taken].slice(archive.length)
  return [...inOrder, ...left]
}

/** M8Shift reads nothing of a relay whose LOCK block is wrong; its turns are there all the same. */
function readLock(
  relay: Relay,
  name: string,
): { readonly roster: readonly string[] | undefined; readonly warnings: readonly string[] } {
  if (relay.badByte !== undefined) return { roster: undefined, warnings: [] }
  try {
    return { roster: getLock(relay, name).roster, warnings: [] }
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error
    return { roster: undefined, warnings: [`M8Shift refuses the relay: ${error.message}`] }
  }
}

/** What an archive says of the time before the relay was known is held to from now on, and no one has read it. */
function olderTold(count: number, { archive }: RelayFiles): string[] {
  if (count === 0) return []
  const turns = count === 1 ? '1 turn' : `${count} turns`
  return [
    `${archive!.name} begins with ${turns} that the store had not seen: nothing but their numbers says that they are older; read them`,
  ]
}

function empty(name: string): HandoffError {
  return new HandoffError('HSTORE_RELAY_INVALID', `${name}: is empty`, { details: { path: name } })
}

function archiveNeeded(relay: string): HandoffError {
  return new HandoffError(
    'HSTORE_USAGE',
    `the relay ${quoted(relay)} was imported with an archive: give it with --archive`,
  )
}
