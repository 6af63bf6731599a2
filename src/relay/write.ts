import type { Signer } from '../../keys/signer.ts'
import { HashedBlock } from '../../store/block.ts'
import type { Block } from '../../store/block.ts'
import type { JsonForm } from '../../store/canonical.ts'
import { encodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { RowChange } from '../../store/commit.ts'
import { StoreError } from '../../store/errors.ts'
import { planRows } from '../../store/indexes.ts'
import { rowKey } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import type { RelayNote } from '../contracts/turns/relay-body.ts'
import { relayForm } from '../contracts/turns/relay-body.ts'
import { turnForm } from '../contracts/turns/turn-body.ts'
import type { Turn } from '../contracts/turns/turn.ts'
import type { Entry, VerifiedEntry } from '../entry/entry.ts'
import { rowOf } from '../entry/row.ts'
import { seal } from '../entry/seal.ts'
import { HandoffError } from '../errors.ts'
import { assertRight, chainAfter } from '../put/append.ts'
import { entriesIn, Unread } from '../put/plan.ts'

/** What goes into a relay's stream together. */
export interface RelayChange {
  readonly stream: string
  /** Witness entries of the author's own turns, which it states as its own from now on. */
  readonly claims: readonly Entry[]
  /** The entries of turns that the first new one follows. */
  readonly after: readonly CidText[]
  readonly turns: readonly NamedTurn[]
  /** The note on all of it, its head the last turn's unless there is a new one; undefined where the one of before says it. */
  readonly note: RelayNote | undefined
  /** Returns where most of what the note keeps stands, for messages. */
  readonly whereLoose: () => string
}

/** A turn and where it stands, for messages. */
export interface NamedTurn {
  readonly turn: Turn
  readonly where: string
}

/** What a change made. */
export interface WrittenRelay {
  readonly claims: readonly VerifiedEntry[]
  readonly turns: readonly VerifiedEntry[]
  readonly note: VerifiedEntry | undefined
}

/** Who acts. */
export interface Author {
  readonly agent: string
  readonly signer: Signer
}

/**
 * Writes claims, new turns, each an entry behind the one before, and the note on the files, all in one batch; synced to
 * disk when it returns. A turn whose agent is no name of the author is a witness entry.
 *
 * @throws {HandoffError} `HSTORE_SIGNER_UNKNOWN` without a right; `HSTORE_INPUT_TOO_LARGE` where a turn, or what stands
 * between them, is more than a block holds.
 */
export async function writeRelay(
  context: Context,
  { stream, claims, after, turns, note, whereLoose }: RelayChange,
  { agent, signer }: Author,
): Promise<WrittenRelay> {
  for (const kind of ['turn', 'relay'])
    assertRight(context, { author: agent, kind, stream }, signer)
  const bodies = turns.map(({ turn, where }) => blockOf(turnForm(turn), () => where))
  const batch = await openBatch(context, stream, { agent, signer })
  const claimed = claims.map(({ body, parents }) =>
    batch.add({ kind: 'turn', body, parents, refs: [], witness: false }),
  )
  const made: VerifiedEntry[] = []
  for (const [i, body] of bodies.entries()) {
    const witness = !context.trust.isNameOf(agent, turns[i]!.turn.agent)
    const last = made.at(-1)
    const parents = last === undefined ? [...after].sort() : [last.cid]
    made.push(batch.add({ kind: 'turn', body: body.cid, parents, refs: [], witness }, body))
  }
  const head = made.at(-1)?.cid ?? note?.head
  const noted = note && addNote(batch, { ...note, head }, whereLoose)
  await batch.commit()
  return { claims: claimed, turns: made, note: noted }
}

/** Writes a note alone: nothing is new but what is known of the files. */
export async function writeNote(
  context: Context,
  stream: string,
  note: RelayNote,
  author: Author,
): Promise<void> {
  const nothing = { claims: [], after: [], turns: [] }
  await writeRelay(context, { stream, ...nothing, note, whereLoose: () => stream }, author)
}

function addNote(batch: Batch, note: RelayNote, whereLoose: () => string): VerifiedEntry {
  const body = blockOf(relayForm(note), () => `${whereLoose()}: what stands in no turn`)
  const refs = note.head === undefined ? [] : [note.head]
  return batch.add({ kind: 'relay', body: body.cid, parents: [], refs, witness: false }, body)
}

function blockOf(form: JsonForm, what: () => string): Block {
  try {
    return HashedBlock.of(encodeForm(form), 'dag-json')
  } catch (cause) {
    if (!(cause instanceof StoreError) || cause.details['reason'] !== 'too-large') throw cause
    const message = `${what()} is more than the 2 MiB that a block holds: nothing was written`
    throw new HandoffError('HSTORE_INPUT_TOO_LARGE', message, { cause })
  }
}

type Statement = Pick<Entry, 'body' | 'kind' | 'parents' | 'refs' | 'witness'>

interface Batch {
  /** @param body - The body, unless the store holds it. */
  add(statement: Statement, body?: Block): VerifiedEntry
  commit(): Promise<void>
}

/** Rows of entries build on each other, so what is planned is read before what is in the store. */
async function openBatch(
  context: Context,
  stream: string,
  { agent, signer }: Author,
): Promise<Batch> {
  const blocks: Block[] = []
  const rows = new Map<string, RowChange>()
  const made: VerifiedEntry[] = []
  let chain = chainAfter(await readTips(context, stream, signer.did))
  return {
    add(statement, body) {
      const { entry, block } = seal(
        {
          ...statement,
          artifacts: undefined,
          author: agent,
          name: undefined,
          roster: context.trust.rosterBody,
          shallow: [],
          signer: signer.did,
          source: undefined,
          store: context.trust.genesis,
          stream,
          ...chain,
        },
        signer,
      )
      const read = (index: RowChange['index'], key: string): readonly string[] | undefined => {
        const planned = rows.get(rowKey(index, key))
        return planned === undefined ? context.db.readRow(index, key) : planned.values
      }
      for (const row of [...planRows(read, rowOf(entry)), context.marks.madeRow(entry.cid)]) {
        rows.set(rowKey(row.index, row.key), row)
      }
      blocks.push(block, ...(body === undefined ? [] : [body]))
      made.push(entry)
      chain = { prev: [entry.cid], seq: entry.seq + 1 }
      return entry
    },
    async commit() {
      await context.db.commit({ blocks, rows: [...rows.values()] })
      for (const entry of made) context.recent.set(entry.cid, entry)
    },
  }
}

async function readTips(
  context: Context,
  stream: string,
  signer: string,
): Promise<readonly VerifiedEntry[]> {
  const row = { index: 'tips', stream, signer } as const
  try {
    for (;;) {
      const tips = entriesIn(context, row)
      if (!(tips instanceof Unread)) return tips
      await tips.read(context)
    }
  } finally {
    context.held.clear()
  }
}
