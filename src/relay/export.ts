import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import type { RelayNote } from '../contracts/turns/relay-body.ts'
import { fileOfParts } from '../contracts/turns/relay-parts.ts'
import { HandoffError } from '../errors.ts'
import { quoted } from '../kernel/shown.ts'
import type { ChainedTurn } from './line.ts'
import { readLine } from './line.ts'
import { assertSound, findNote, streamOf } from './state.ts'

/** A relay's files, as they were at the last import. */
export interface ExportedRelay {
  /** The entry of the note on them. */
  readonly cid: CidText
  readonly living: Uint8Array
  /** Undefined where there was none. */
  readonly archive: Uint8Array | undefined
}

/**
 * Returns a relay's files, byte for byte.
 *
 * @throws {HandoffError} `HSTORE_REF_NOT_FOUND` for a relay that the store does not hold; what `readLine` throws.
 */
export async function exportRelay(context: Context, relay: string): Promise<ExportedRelay> {
  const note = await findNote(context, streamOf(relay))
  if (note === undefined) throw unknownRelay(relay)
  const { turns: chain } = await readLine(context, note.head === undefined ? [] : [note.head])
  assertSound(chain)
  if (chain.length !== note.turns) {
    const message = `${note.cid} is no entry of a relay: it counts ${note.turns} turns, there are ${chain.length}`
    throw new HandoffError('HSTORE_ENTRY_INVALID', message, { details: { cid: note.cid } })
  }
  return { cid: note.cid, ...filesOf(note, chain) }
}

/**
 * Returns the files that a note is on, byte for byte.
 *
 * @param chain - The turns that the note counts, in its order.
 */
export function filesOf(
  note: RelayNote,
  chain: readonly ChainedTurn[],
): Pick<ExportedRelay, 'archive' | 'living'> {
  const textOf = (place: number): string => chain[place]!.turn.text
  return {
    living: fileOfParts(note.living, textOf),
    archive: note.archive && fileOfParts(note.archive, textOf),
  }
}

/** Returns the error for a relay that the store does not hold. */
export function unknownRelay(relay: string): HandoffError {
  const message = `${quoted(relay)}: no relay of that name is in the store; hstore turn import takes one in`
  return new HandoffError('HSTORE_REF_NOT_FOUND', message, { details: { ref: `m8:${relay}` } })
}
