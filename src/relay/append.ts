import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { appendMade, appendTurn, claimPen } from '../contracts/turns/append.ts'
import type { TurnDraft } from '../contracts/turns/draft.ts'
import { refused, withoutFinalLineFeeds } from '../contracts/turns/draft.ts'
import { getLock } from '../contracts/turns/lock.ts'
import { readRelay } from '../contracts/turns/markdown.ts'
import type { RelayFile } from '../contracts/turns/validate.ts'
import { HandoffError } from '../errors.ts'
import { bounded, quoted } from '../kernel/shown.ts'
import type { DoneTurn } from './done-turn.ts'
import { findDone, haveTurn } from './done-turn.ts'
import { filesOf } from './export.ts'
import type { RelayFiles } from './files.ts'
import { importOver } from './import.ts'
import { planImport } from './plan-import.ts'
import type { RelayState } from './state.ts'
import { assertJoined, assertSound, readState } from './state.ts'
import { writeInto } from './write-into.ts'
import type { Author } from './write.ts'
import { writeNote } from './write.ts'

/** The relay's file that a turn is written into too, and what it holds. */
export interface HeldInto {
  /** Where the relay is; its own place, links followed, is written. */
  readonly path: string
  readonly files: RelayFiles
}

/** A turn that was appended. */
export interface AppendReport {
  readonly relay: string
  readonly stream: string
  /** The entry of the turn. */
  readonly cid: CidText
  readonly number: string
  readonly agent: string
  readonly to: string
  /** False when an earlier call had put it into the store and not into the file. */
  readonly new: boolean
  /** How many turns of the file went into the store before it. */
  readonly imported: number
  /** How many old ones are the author's own from now on. */
  readonly claimed: number
  /** The file that has it; null where none was named. */
  readonly file: string | null
}

/**
 * Appends a turn by the author to a relay: to the store, as the entry of a new head, then to the relay's file. A relay
 * without a file is written on as the store has it, the pen taken where M8Shift's `claim` would give it. Should the file
 * not be written after the entry was, the same call again writes it, whatever else changed in the file; until then the
 * store knows that the file lacks the turn.
 *
 * @param draft - Its `agent` may be empty or the author's id: the one name of the author that the relay lists is meant.
 * @param parents - The heads that the turn is to join, where the relay has several.
 * @throws {HandoffError} `HSTORE_AUTHOR_MISMATCH` when the turn's agent is no name of the author, or the relay lists none;
 * `HSTORE_TURN_REFUSED`, `HSTORE_RELAY_INVALID` as M8Shift's `append` refuses; what `writeInto` throws when the file is not
 * written; what `importRelay` and `exportRelay` throw.
 */
export async function appendToRelay(
  context: Context,
  relay: string,
  given: TurnDraft,
  author: Author,
  into?: HeldInto,
  parents?: readonly string[],
): Promise<AppendReport> {
  assertName(context, given, author)
  const state = await readState(context, relay)
  assertSound(state.chain)
  const done = into && doneIn(context, relay, state, given, author, into, parents)
  assertFollows(relay, state, done, parents)
  const planned = planTurn(context, relay, state, given, author, into, done)
  const { files, number, draft, isWritten } = planned
  // a file that is not written yet is known to lack the turn, whatever ends this call
  const ahead = into === undefined ? 'unseen' : isWritten ? 'none' : 'last'
  const { report, note } = await importOver(context, relay, files, state, author, ahead)
  if (into !== undefined && !isWritten) {
    await writeInto(into.path, into.files.living.bytes, files.living.bytes)
    const written = { ...note, ahead: 0, version: note.version + 1 }
    await writeNote(context, report.stream, written, author)
  }
  return {
    relay,
    stream: report.stream,
    cid: done?.cid ?? report.head!,
    number,
    agent: draft.agent,
    to: draft.to,
    new: done === undefined,
    imported: report.added - (done === undefined ? 1 : 0),
    claimed: report.claimed,
    file: into?.path ?? null,
  }
}

/** A turn that is to be written, and the files with it. */
interface PlannedTurn {
  readonly files: RelayFiles
  readonly number: string
  readonly draft: TurnDraft
  /** Whether the file has it already. */
  readonly isWritten: boolean
}

function planTurn(
  context: Context,
  relay: string,
  state: RelayState,
  given: TurnDraft,
  author: Author,
  into: HeldInto | undefined,
  done: DoneTurn | undefined,
): PlannedTurn {
  if (into !== undefined && done !== undefined) return planDone(relay, state, into, done)
  const { living, archive } = into?.files ?? heldFiles(relay, state)
  const draft = { ...given, agent: nameIn(context, living, given.agent, author) }
  if (into !== undefined) planImport(relay, into.files, state) // else the new turn would be blamed
  const pen = into === undefined ? claimPen(living.bytes, draft.agent, relay) : living.bytes
  const { bytes, number, text } = appendTurn(pen, draft, living.name)
  assertRead(bytes, text)
  return { number, draft, files: { living: { ...living, bytes }, archive }, isWritten: false }
}

function doneIn(
  context: Context,
  relay: string,
  state: RelayState,
  given: TurnDraft,
  author: Author,
  { files }: HeldInto,
  parents: readonly string[] | undefined,
): DoneTurn | undefined {
  // a file that was emptied has no LOCK block to ask, and turns that are missing
  if (files.living.bytes.length === 0) planImport(relay, files, state)
  const agent = nameIn(context, files.living, given.agent, author)
  return findDone(state, { ...given, agent }, author, parents)
}

/** A turn that was made to join heads has done so. */
function assertFollows(
  relay: string,
  state: RelayState,
  done: DoneTurn | undefined,
  parents: readonly string[] | undefined,
): void {
  if (done === undefined || parents === undefined) assertJoined(relay, state, parents)
}

function planDone(
  relay: string,
  state: RelayState,
  { files }: HeldInto,
  { draft, turn }: DoneTurn,
): PlannedTurn {
  const { number, text } = turn
  if (haveTurn(files, turn)) return { number, draft, files, isWritten: true }
  const { living, archive } = files
  const bytes = appendMade(living.bytes, draft, turn, living.name)
  if (bytes === undefined) {
    planImport(relay, files, state)
    throw refused(`the LOCK block does not say that turn ${bounded(number)} is the next`)
  }
  assertRead(bytes, text)
  const made = { living: { ...living, bytes }, archive }
  try {
    planImport(relay, made, state)
  } catch (error) {
    planImport(relay, files, state) // what is wrong is told of the file as it is
    throw error
  }
  return { number, draft, files: made, isWritten: false }
}

function assertName({ trust }: Context, { agent }: TurnDraft, author: Author): void {
  if (agent === '' || trust.isNameOf(author.agent, agent)) return
  throw new HandoffError(
    'HSTORE_AUTHOR_MISMATCH',
    `${quoted(agent)} is no name of ${author.agent}: append the turn --as its agent`,
  )
}

/** Returns the name by which a relay lists the author, where none that a relay could list is given. */
function nameIn(context: Context, living: RelayFile, given: string, author: Author): string {
  const { roster, state } = getLock(readRelay(living.bytes), living.name)
  if (given !== '' && (given !== author.agent || roster.includes(given))) return given
  const names = roster.filter((name) => context.trust.isNameOf(author.agent, name))
  const [only, ...others] = names
  if (only === undefined) {
    throw new HandoffError(
      'HSTORE_AUTHOR_MISMATCH',
      `${author.agent} has no name that the relay lists (${bounded(roster.join(', '))}): a root gives it one with hstore roster alias`,
    )
  }
  const holding = names.find((name) => state.endsWith(`_${name.toUpperCase()}`))
  if (others.length === 0 || holding !== undefined) return holding ?? only
  throw refused(`${author.agent} is ${bounded(names.join(', '))} here: say which`)
}

/** Returns a relay's files as the store has them, with turns that no file has had at the end. */
function heldFiles(relay: string, { chain, note, places }: RelayState): RelayFiles {
  if (note === undefined) {
    throw new HandoffError(
      'HSTORE_REF_NOT_FOUND',
      `${quoted(relay)}: no relay of that name is in the store; name its file with --file`,
    )
  }
  const { living, archive } = filesOf(
    note,
    places.map((place) => chain[place]!),
  )
  const noted = new Set(places)
  const rest = chain.filter((_, place) => !noted.has(place)).map(({ turn }) => turn.text)
  return {
    living: { bytes: rest.length === 0 ? living : withTurns(living, rest), name: relay },
    archive: archive && { bytes: archive, name: relay },
  }
}

function withTurns(living: Uint8Array, texts: readonly string[]): Uint8Array {
  const before = withoutFinalLineFeeds(readRelay(living).text)
  return new TextEncoder().encode(`${[before, ...texts].join('\n\n')}\n`)
}

/** A turn that something before it swallows is none. */
function assertRead(bytes: Uint8Array, text: string): void {
  if (readRelay(bytes).turns.at(-1)?.turn.text === text) return
  throw refused(
    'an earlier BEGIN without END, of the same number and agent, would swallow the turn',
  )
}
