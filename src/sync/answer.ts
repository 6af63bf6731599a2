import type { JsonForm } from '../../store/canonical.ts'
import { linkForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'
import { rangeFan } from '../../store/keyspace.ts'
import { entriesInRange } from '../../store/ranges.ts'
import type { RangeTree } from '../../store/ranges.ts'
import type { IncomingMessage, Message } from '../../store/wire.ts'
import { HstoreError } from '../kernel/errors.ts'
import { order, sendBlocks, sendPiece, want } from './answer-blocks.ts'
import { assertWriter, give, quarantineOf } from './give.ts'
import { Fields, linkForms, maxNodes, maxWanted, packCids, protocolVersion } from './protocol.ts'
import type { Quarantine } from './quarantine.ts'
import { receive } from './receive.ts'
import type { Asked, Handler, Sent, Served } from './request.ts'
import { noBlocks, opened, plain } from './request.ts'
import type { Rights } from './rights.ts'
import { rememberTrees, tipsIn, treeOf } from './trees.ts'

/** Digests that one answer has, at most: a control block is a block as others are. */
const maxTold = 45_000

/**
 * Answers one request of a client: the whole of the serving side. What the client may not see is answered as what is not
 * there.
 *
 * @param hungUp - Aborted once nobody waits for the answer any more: the work ends, with what the signal has for a reason.
 */
export async function answer(
  served: Served,
  request: IncomingMessage,
  rights: Rights,
  hungUp?: AbortSignal,
): Promise<Message> {
  try {
    const fields = new Fields(request.control, 'the client')
    const handler = handlers.get(fields.is)
    if (handler === undefined) return fields.fail('is')
    return await handler({ served, fields, rights, hungUp, blocks: request.blocks })
  } catch (error) {
    if (error instanceof HstoreError) return refusal(error)
    throw error
  }
}

/** Returns an error as an answer. */
export function refusal({ code, message }: HstoreError): Message {
  return { control: { is: 'no', code, message: message.slice(0, 1000) }, blocks: noBlocks }
}

const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['hello', opened(hello)],
  ['compare', opened(compare)],
  ['order', order],
  ['want', opened(want)],
  ['blocks', opened(sendBlocks)],
  ['piece', opened(sendPiece)],
  ['waiting', waiting],
  ['push', push],
  ['give', give],
])

async function hello({ peer, rights }: Asked): Promise<Message> {
  const streams: JsonForm[] = []
  for (const stream of (await tipsIn(peer.db)).keys()) {
    if (!rights.mayRead(stream)) continue
    const tree = await treeOf(peer.db, stream)
    streams.push([stream, tree.size, await tree.root()])
  }
  rememberTrees(peer.db)
  return plain({
    is: 'hello',
    v: protocolVersion,
    genesis: linkForm(peer.ground.genesis),
    roster: linkForm(peer.roster),
    streams,
    writes: rights.mayWrite,
  })
}

async function compare({ peer, fields, rights }: Asked): Promise<Message> {
  const nodes = fields.rows('nodes', maxNodes, (row) => ({
    stream: row.text(0),
    level: row.count(1),
    index: row.count(2),
    mine: row.text(3),
  }))
  const trees = new Map<string, RangeTree>()
  const answers: JsonForm[] = []
  let told = 0
  for (const { stream, level, index, mine } of nodes) {
    const tree =
      trees.get(stream) ?? (rights.mayRead(stream) ? await treeOf(peer.db, stream) : undefined)
    if (tree !== undefined) trees.set(stream, tree)
    const isDeep = level > maxLevel
    if (tree === undefined || isDeep || (await tree.node(level, index)) === mine) answers.push(null)
    else if (level > 0) answers.push([...(await tree.children(level, index))])
    else {
      const cids = await entriesInRange(peer.db, stream, index)
      answers.push(packCids(cids))
      told += cids.length
    }
    // the rest is asked for again
    if (told >= maxTold) break
  }
  return plain({ is: 'compare', answers })
}

/** 32 to the tenth is more than there are ranges. */
const maxLevel = Math.ceil(Math.log(Number.MAX_SAFE_INTEGER / 100) / Math.log(rangeFan))

/** What the client has sent before and waits here. */
async function waiting({ served, fields, rights, blocks }: Sent): Promise<Message> {
  assertWriter(rights)
  for await (const { cid } of blocks) return fields.fail(cid)
  const quarantine = await quarantineOf(served, rights)
  try {
    const cids = [...quarantine.arrivals.cids()].slice(0, maxTold)
    const isDocument = (cid: CidText): boolean => codecOf(cid) === 'dag-json'
    return plain({
      is: 'waiting',
      documents: packCids(cids.filter(isDocument)),
      files: packCids(cids.filter((cid) => !isDocument(cid))),
    })
  } finally {
    await quarantine.close()
  }
}

async function push({ served, rights, blocks }: Sent): Promise<Message> {
  assertWriter(rights)
  const quarantine = await quarantineOf(served, rights)
  try {
    if (quarantine.arrivals.fill > 0.5) await settleIn(served, quarantine)
    for await (const block of blocks) quarantine.arrivals.add(block)
    await quarantine.completeAll()
    await using peer = await served.open()
    const { added, unstored, waiting: incomplete } = await receive(peer, quarantine.arrivals)
    const told: JsonForm[] = []
    for (const [cid, fate] of unstored)
      told.push([linkForm(cid), fate.fate, 'why' in fate ? fate.why.slice(0, 500) : '', []])
    for (const [cid, needs] of incomplete)
      told.push([linkForm(cid), 'incomplete', '', linkForms(needs.slice(0, maxWanted))])
    return plain({ is: 'push', added, unstored: told })
  } finally {
    await quarantine.close()
  }
}

/** Lets go of what a client that was cut off, or somebody on the way, has left and no entry needs. */
async function settleIn(served: Served, { arrivals }: Quarantine): Promise<void> {
  await using peer = await served.open()
  await receive(peer, arrivals)
}
