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
import { bounded } from '../kernel/shown.ts'
import { assertRight, chainAfter } from '../put/append.ts'
import { entriesIn, Unread } from '../put/plan.ts'

/** What goes into a relay's stream together. */
export interface RelayChange {
  readonly stream: string
  /** The entry of the turn that the first new one follows. */
  readonly after: CidText | undefined
  readonly turns: readonly Turn[]
  /** The note on all of it; its head is filled in. */
  readonly note: Omit<RelayNote, 'head'>
}

/** What a change made. */
export interface WrittenRelay {
  readonly turns: readonly VerifiedEntry[]
  readonly note: VerifiedEntry
}

/** Who acts. */
export interface Author {
  readonly agent: string
  readonly signer: Signer
}

/**
 * Writes new turns, each an entry behind the one before, and the note on the files, all in one batch; synced to disk
 * when it returns. A turn whose agent is no name of the author is a witness entry.
 *
 * @throws {HandoffError} `HSTORE_SIGNER_UNKNOWN` without a right; `HSTORE_INPUT_TOO_LARGE` where a turn, or what stands
 * between them, is more than a block holds.
 */
export async function writeRelay(
  context: Context,
  { stream, after, turns, note }: RelayChange,
  { agent, signer }: Author,
): Promise<WrittenRelay> {
  for (const kind of ['turn', 'relay'])
    assertRight(context, { author: agent, kind, stream }, signer)
  const bodies = turns.map((turn) => blockOf(turnForm(turn), `turn ${bounded(turn.number)}`))
  const batch = await openBatch(context, stream, { agent, signer })
  const made: VerifiedEntry[] = []
  for (const [i, body] of bodies.entries()) {
    const parent = made.at(-1)?.cid ?? after
    const witness = !context.trust.isNameOf(agent, turns[i]!.agent)
    const parents = parent === undefined ? [] : [parent]
    made.push(batch.add({ kind: 'turn', body, parents, refs: [], witness }))
  }
  const head = made.at(-1)?.cid ?? after
  const body = blockOf(relayForm({ ...note, head }), 'what stands between the turns')
  const refs = head === undefined ? [] : [head]
  const noted = batch.add({ kind: 'relay', body, parents: [], refs, witness: false })
  await batch.commit()
  return { turns: made, note: noted }
}

function blockOf(form: JsonForm, what: string): Block {
  try {
    return HashedBlock.of(encodeForm(form), 'dag-json')
  } catch (cause) {
    if (!(cause instanceof StoreError) || cause.details['reason'] !== 'too-large') throw cause
    const message = `${what} is more than the 2 MiB that a block holds: nothing was written`
    throw new HandoffError('HSTORE_INPUT_TOO_LARGE', message, { cause })
  }
}

type Statement = Pick<Entry, 'kind' | 'parents' | 'refs' | 'witness'> & { readonly body: Block }

interface Batch {
  add(statement: Statement): VerifiedEntry
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
    add({ kind, body, parents, refs, witness }) {
      const { entry, block } = seal(
        {
          artifacts: undefined,
          author: agent,
          body: body.cid,
          kind,
          name: undefined,
          parents,
          refs,
          roster: context.trust.rosterBody,
          shallow: [],
          signer: signer.did,
          source: undefined,
          store: context.trust.genesis,
          stream,
          witness,
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
      blocks.push(block, body)
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
