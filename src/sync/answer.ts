import type { JsonForm, JsonMap } from '../../store/canonical.ts'
import { linkForm } from '../../store/canonical.ts'
import type { Block } from '../../store/block.ts'
import type { CidText } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'
import { entriesInRange, rangeFan } from '../../store/ranges.ts'
import type { RangeTree } from '../../store/ranges.ts'
import type { IncomingMessage, Message } from '../../store/wire.ts'
import { HandoffError } from '../errors.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { Peer, SettledPeer } from './peer.ts'
import { orderIn } from './order.ts'
import {
  Fields,
  linkForms,
  maxNodes,
  maxOrdered,
  maxWanted,
  packCids,
  protocolVersion,
} from './protocol.ts'
import { bytesIn } from './pieces.ts'
import { Quarantine } from './quarantine.ts'
import { receive } from './receive.ts'
import type { Rights } from './rights.ts'
import { addEntry, addPart, Answer, isPartOf, piecesFrom } from './serve-blocks.ts'
import { streamsIn, treeOf } from './trees.ts'

const noBlocks: readonly Block[] = []

/** Digests that one answer has, at most: a control block is a block as others are. */
const maxTold = 50_000

/** A store that answers. It is opened for each request, once what the client sends has come. */
export interface Served {
  /** The store's folder. */
  readonly directory: string
  open(): Promise<SettledPeer>
}

/**
 * Answers one request of a client: the whole of the serving side. What the client may not see is answered as what is not
 * there.
 */
export async function answer(
  served: Served,
  request: IncomingMessage,
  rights: Rights,
): Promise<Message> {
  try {
    const fields = new Fields(request.control, 'the client')
    const handler = handlers.get(fields.is)
    if (handler === undefined) return fields.fail('is')
    return await handler({ served, fields, rights, blocks: request.blocks })
  } catch (error) {
    if (error instanceof HstoreError) return refusal(error)
    throw error
  }
}

/** Returns an error as an answer. */
export function refusal({ code, message }: HstoreError): Message {
  return { control: { is: 'no', code, message: message.slice(0, 1000) }, blocks: noBlocks }
}

interface Sent {
  readonly served: Served
  readonly fields: Fields
  readonly rights: Rights
  readonly blocks: IncomingMessage['blocks']
}

/** A request that carries no blocks, with the store opened for it. */
interface Asked extends Omit<Sent, 'served' | 'blocks'> {
  readonly peer: Peer
}

type Handler = (sent: Sent) => Promise<Message>

const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['hello', opened(hello)],
  ['compare', opened(compare)],
  ['order', opened(order)],
  ['want', opened(want)],
  ['blocks', opened(sendBlocks)],
  ['piece', opened(sendPiece)],
  ['waiting', waiting],
  ['push', push],
  ['give', give],
])

function opened(handler: (asked: Asked) => Promise<Message>): Handler {
  return async ({ served, fields, rights, blocks }) => {
    for await (const { cid } of blocks) return fields.fail(cid)
    await using peer = await served.open()
    return await handler({ peer, fields, rights })
  }
}

function plain(control: JsonMap): Message {
  return { control, blocks: noBlocks }
}

async function hello({ peer, rights }: Asked): Promise<Message> {
  const streams: JsonForm[] = []
  for (const stream of await streamsIn(peer.db)) {
    if (!rights.mayRead(stream)) continue
    const tree = await treeOf(peer.db, stream)
    streams.push([stream, tree.size, tree.root])
  }
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
    if (tree === undefined || isDeep || tree.node(level, index) === mine) answers.push(null)
    else if (level > 0) answers.push([...tree.children(level, index)])
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

/** Entries of a stream, each behind what it follows; first those that rest on nothing else than the client has. */
async function order({ peer, fields, rights }: Asked): Promise<Message> {
  const stream = fields.text('stream')
  const wanted = fields.cids('entries', maxOrdered, 'dag-json')
  const ends = new Map(
    fields.rows('ends', maxOrdered, (row) => [row.text(0), row.count(1)] as const),
  )
  const isOpen = rights.mayRead(stream)
  const { closed, open } = isOpen
    ? await orderIn(peer.db, stream, { wanted, ends })
    : { closed: [], open: [] }
  return plain({ is: 'order', closed: packCids(closed), open: packCids(open) })
}

async function want({ peer, fields, rights }: Asked): Promise<Message> {
  const wanted = fields
    .rows('of', maxWanted, (row) => ({ stream: row.text(0), cids: row.cids(1, maxWanted) }))
    .flatMap(({ stream, cids }) => cids.map((cid) => ({ stream, cid })))
  const found = new Answer()
  let taken = 0
  for (const { stream, cid } of wanted) {
    if (found.isFull) break
    taken += 1
    if (rights.mayRead(stream)) await addEntry(found, peer.db, stream, cid)
  }
  return { control: { is: 'want', taken }, blocks: found.blocks }
}

async function sendBlocks({ peer, fields, rights }: Asked): Promise<Message> {
  const wanted = fields
    .rows('of', maxWanted, (row) => ({
      stream: row.text(0),
      entry: row.link(1),
      cids: row.links(2, maxWanted),
    }))
    .flatMap(({ cids, ...at }) => cids.map((cid) => ({ ...at, cid })))
  const found = new Answer()
  const large: JsonForm[] = []
  let taken = 0
  for (const { stream, entry, cid } of wanted) {
    if (found.isFull) break
    taken += 1
    if (!rights.mayRead(stream) || !(await isPartOf(peer.db, stream, entry, cid))) continue
    const size = await addPart(found, peer.db, cid)
    if (size !== undefined) large.push([linkForm(cid), size])
  }
  return { control: { is: 'blocks', taken, large }, blocks: found.blocks }
}

async function sendPiece({ peer, fields, rights }: Asked): Promise<Message> {
  const stream = fields.text('stream')
  const artifact = fields.link('artifact')
  const isOpen = rights.mayRead(stream)
  if (!isOpen || !(await isPartOf(peer.db, stream, fields.link('entry'), artifact)))
    return plain({ is: 'piece', order: [] })
  const blocks = await piecesFrom(peer.db, artifact, fields.count('at'))
  return { control: { is: 'piece', order: blocks.map(({ cid }) => [linkForm(cid)]) }, blocks }
}

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
    quarantine.close()
  }
}

async function push({ served, rights, blocks }: Sent): Promise<Message> {
  assertWriter(rights)
  const quarantine = await quarantineOf(served, rights)
  try {
    if (quarantine.arrivals.fill > 0.5) await settleIn(served, quarantine)
    for await (const block of blocks) quarantine.arrivals.add(block)
    await quarantine.completeAll(rights.who)
    await using peer = await served.open()
    const { added, unstored, waiting: incomplete } = await receive(peer, quarantine.arrivals)
    const told: JsonForm[] = []
    for (const [cid, fate] of unstored)
      told.push([linkForm(cid), fate.fate, 'why' in fate ? fate.why.slice(0, 500) : '', []])
    for (const [cid, needs] of incomplete)
      told.push([linkForm(cid), 'incomplete', '', linkForms(needs.slice(0, maxWanted))])
    return plain({ is: 'push', added, unstored: told })
  } finally {
    quarantine.close()
  }
}

/** Lets go of what a client that was cut off, or somebody on the way, has left and no entry needs. */
async function settleIn(served: Served, { arrivals }: Quarantine): Promise<void> {
  await using peer = await served.open()
  await receive(peer, arrivals)
}

async function give({ served, fields, rights, blocks }: Sent): Promise<Message> {
  assertWriter(rights)
  const artifact = fields.link('artifact')
  const quarantine = await quarantineOf(served, rights)
  try {
    const have = await quarantine.sizeOf(artifact)
    if (have !== fields.count('at') || quarantine.isWhole(artifact)) {
      for await (const _block of blocks);
      return plain({ is: 'give', have })
    }
    await quarantine.append(artifact, bytesIn(blocks, fields))
    const there = await quarantine.sizeOf(artifact)
    // who gives nothing more has given all
    if (there > 0 && there === have) await takeWhole(quarantine, artifact, rights)
    return plain({ is: 'give', have: there })
  } finally {
    quarantine.close()
  }
}

/** What does not hash to its name is gone: the entry that needs it stays incomplete. */
async function takeWhole(
  quarantine: Quarantine,
  artifact: CidText,
  { who }: Rights,
): Promise<void> {
  try {
    await quarantine.complete(artifact, who)
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error
  }
}

function quarantineOf({ directory }: Served, { who }: Rights): Promise<Quarantine> {
  return Quarantine.open(directory, `from ${who}`)
}

function assertWriter({ mayWrite }: Rights): void {
  if (mayWrite) return
  throw new HandoffError('HSTORE_REMOTE_DENIED', 'this key may not write here')
}
