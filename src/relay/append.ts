import { realpath, stat } from 'node:fs/promises'
import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { appendTurn, claimPen } from '../contracts/turns/append.ts'
import type { TurnDraft } from '../contracts/turns/draft.ts'
import { refused } from '../contracts/turns/draft.ts'
import { readRelay } from '../contracts/turns/markdown.ts'
import { readTurn, valueOf } from '../contracts/turns/turn.ts'
import { writeDurably } from '../durable-file.ts'
import { HandoffError } from '../errors.ts'
import { equalBytes } from '../kernel/bytes.ts'
import { readBounded } from '../kernel/files.ts'
import { quoted } from '../kernel/shown.ts'
import { filesOf } from './export.ts'
import type { RelayFiles } from './import.ts'
import { importRelay, planImport } from './import.ts'
import type { RelayState } from './state.ts'
import { assertSound, readState } from './state.ts'
import type { Author } from './write.ts'

/** The relay's file that a turn is written into too, and what it holds. */
export interface AppendInto {
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
  /** The file that has it; null where none was named. */
  readonly file: string | null
}

/**
 * Appends a turn by the author to a relay: to the store, as the entry of a new head, then to the relay's file. A relay
 * without a file is written on as the store has it, the pen taken where M8Shift's `claim` would give it. Should the file
 * not be written after the entry was, the same call again writes it.
 *
 * @throws {HandoffError} `HSTORE_AUTHOR_MISMATCH` when the turn's agent is no name of the author; `HSTORE_TURN_REFUSED`,
 * `HSTORE_RELAY_INVALID` as M8Shift's `append` refuses; `HSTORE_INPUT_CHANGED` when the file changed meanwhile; what
 * `importRelay` and `exportRelay` throw.
 */
export async function appendToRelay(
  context: Context,
  relay: string,
  draft: TurnDraft,
  author: Author,
  into?: AppendInto,
): Promise<AppendReport> {
  assertName(context, draft, author)
  const state = await readState(context, relay)
  assertSound(state.chain)
  const done = into && findDone(state, draft, into)
  if (into !== undefined && done === undefined) planImport(relay, into.files, state) // else the new turn would be blamed
  const before = into?.files ?? claimed(relay, state, draft.agent)
  const { bytes, text, number } = done ?? appendTurn(before.living.bytes, draft, before.living.name)
  assertRead(bytes, text)
  const files = { living: { ...before.living, bytes }, archive: before.archive }
  const report = await importRelay(context, relay, files, author)
  if (into !== undefined) await writeInto(into, bytes)
  return {
    relay,
    stream: report.stream,
    cid: report.head!,
    number,
    agent: draft.agent,
    to: draft.to,
    new: report.added > 0,
    imported: Math.max(0, report.added - 1),
    file: into?.path ?? null,
  }
}

function assertName({ trust }: Context, { agent }: TurnDraft, author: Author): void {
  if (trust.isNameOf(author.agent, agent)) return
  throw new HandoffError(
    'HSTORE_AUTHOR_MISMATCH',
    `${quoted(agent)} is no name of ${author.agent}: append the turn --as its agent`,
  )
}

/** Returns what an earlier call with the same draft put into the store and not into the file. */
function findDone(
  state: RelayState,
  draft: TurnDraft,
  { files: { living } }: AppendInto,
): ReturnType<typeof appendTurn> | undefined {
  const last = state.chain.at(-1)
  const at = last && valueOf(readTurn(last.turn), 'at')
  if (state.note === undefined || at === undefined || last?.entry.witness !== false)
    return undefined
  const held = filesOf(state.note, state.chain).living
  if (equalBytes(held, living.bytes)) return undefined
  try {
    const again = appendTurn(living.bytes, { ...draft, at }, living.name)
    return equalBytes(again.bytes, held) ? again : undefined
  } catch (error) {
    if (error instanceof HandoffError) return undefined // told where it is appended in earnest
    throw error
  }
}

function claimed(relay: string, { note, chain }: RelayState, agent: string): RelayFiles {
  if (note === undefined) {
    throw new HandoffError(
      'HSTORE_REF_NOT_FOUND',
      `${quoted(relay)}: no relay of that name is in the store; name its file with --file`,
    )
  }
  const { living, archive } = filesOf(note, chain)
  return {
    living: { bytes: claimPen(living, agent, relay), name: relay },
    archive: archive && { bytes: archive, name: relay },
  }
}

/** A turn that something before it swallows is none. */
function assertRead(bytes: Uint8Array, text: string): void {
  if (readRelay(bytes).turns.at(-1)?.turn.text === text) return
  throw refused(
    'an earlier BEGIN without END, of the same number and agent, would swallow the turn',
  )
}

async function writeInto({ path, files }: AppendInto, bytes: Uint8Array): Promise<void> {
  const file = await realpath(path)
  const { mode, size } = await stat(file)
  const now = await readBounded(file, size)
  if (!equalBytes(now, files.living.bytes)) {
    throw new HandoffError(
      'HSTORE_INPUT_CHANGED',
      `${path} changed while the turn was appended: the turn is in the store, the file was left as it is`,
      { details: { path } },
    )
  }
  await writeDurably(file, bytes, mode & 0o777)
}
