import type { JsonForm } from '../../store/canonical.ts'
import { linkForm } from '../../store/canonical.ts'
import type { Message } from '../../store/wire.ts'
import type { InStore } from './order.ts'
import { orderIn } from './order.ts'
import type { Fields } from './protocol.ts'
import { maxOrdered, maxWanted, packCids } from './protocol.ts'
import type { Asked, Sent } from './request.ts'
import { plain } from './request.ts'
import { addEntry, addPart, Answer, Needs, piecesFrom } from './serve-blocks.ts'

/** Entries of a stream, each behind what it follows; first those that rest on nothing else than the client has. */
export async function order({ served, fields, rights, hungUp, blocks }: Sent): Promise<Message> {
  for await (const { cid } of blocks) return fields.fail(cid)
  const stream = fields.text('stream')
  const wanted = fields.cids('entries', maxOrdered, 'dag-json')
  assertOnce(wanted, fields, 'entries')
  const ends = new Map(
    fields.rows('ends', maxOrdered, (row) => [row.text(0), row.count(1)] as const),
  )
  const inStore: InStore = async (use) => {
    await using peer = await served.open()
    hungUp?.throwIfAborted()
    return await use(peer.db)
  }
  const isOpen = rights.mayRead(stream)
  const { closed, open } = isOpen
    ? await orderIn(inStore, stream, { wanted, ends })
    : { closed: [], open: [] }
  return plain({ is: 'order', closed: packCids(closed), open: packCids(open) })
}

/** Entries with what comes along with them. */
export async function want({ peer, fields, rights, budget }: Asked): Promise<Message> {
  const wanted = fields
    .rows('of', maxWanted, (row) => ({ stream: row.text(0), cids: row.cids(1, maxWanted) }))
    .flatMap(({ stream, cids }) => cids.map((cid) => ({ stream, cid })))
  assertFew(wanted, fields)
  const asked = wanted.map(({ stream, cid }) => `${cid} ${stream}`)
  assertOnce(asked, fields, 'of')
  const found = new Answer()
  let taken = 0
  for (const { stream, cid } of wanted) {
    if (found.isFull || (taken > 0 && budget.isSpent)) break
    taken += 1
    if (rights.mayRead(stream)) await addEntry(found, peer.db, stream, cid)
  }
  return { control: { is: 'want', taken }, blocks: found.blocks }
}

/** Blocks that entries need. */
export async function sendBlocks({ peer, fields, rights, budget }: Asked): Promise<Message> {
  const wanted = fields
    .rows('of', maxWanted, (row) => ({
      stream: row.text(0),
      entry: row.link(1),
      cids: row.links(2, maxWanted),
    }))
    .flatMap(({ cids, ...at }) => cids.map((cid) => ({ ...at, cid })))
  assertFew(wanted, fields)
  const asked = wanted.map(({ stream, entry, cid }) => `${cid} ${entry} ${stream}`)
  assertOnce(asked, fields, 'of')
  const found = new Answer()
  const needs = new Needs(peer.db)
  const large: JsonForm[] = []
  let taken = 0
  for (const { stream, entry, cid } of wanted) {
    if (found.isFull || (taken > 0 && budget.isSpent)) break
    taken += 1
    if (!rights.mayRead(stream)) continue
    const before = needs.reads
    const isNeeded = await needs.has(stream, entry, cid)
    budget.spend(1 + needs.reads - before)
    const size = isNeeded ? await addPart(found, peer.db, cid) : undefined
    if (size !== undefined) large.push([linkForm(cid), size])
  }
  return { control: { is: 'blocks', taken, large }, blocks: found.blocks }
}

/** What is asked for again and again would be worked for again and again. */
function assertOnce(asked: readonly string[], fields: Fields, key: string): void {
  if (new Set(asked).size !== asked.length) fields.fail(key)
}

function assertFew(wanted: readonly unknown[], fields: Fields): void {
  if (wanted.length > maxWanted) fields.fail('of')
}

/** A part of a large artifact. */
export async function sendPiece({ peer, fields, rights }: Asked): Promise<Message> {
  const stream = fields.text('stream')
  const artifact = fields.link('artifact')
  const isOpen = rights.mayRead(stream)
  if (!isOpen || !(await new Needs(peer.db).has(stream, fields.link('entry'), artifact)))
    return plain({ is: 'piece', order: [] })
  const blocks = await piecesFrom(peer.db, artifact, fields.count('at'))
  return { control: { is: 'piece', order: blocks.map(({ cid }) => [linkForm(cid)]) }, blocks }
}
