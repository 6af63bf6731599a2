// A lane of a given size, signed and stored past the verbs, which would read the lane for each entry.
import { createHash } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { dist, loadBelow } from './build.mjs'

/** The name of the lane. */
export const lane = 'bench'

/** Who hands the lane to and fro; the first begins. */
export const agents = ['csag:agent/bench-a', 'csag:agent/bench-b']

/** Entries from one handoff to the next: statuses, and in the end an offer, a signal, an ack and a commit. */
const between = 33
const day = 86_400

/** Runs a verb of the build on a store in `dir`, and returns what it prints. */
function run(dir, argv) {
  const hstore = path.join(path.dirname(dist), 'bin/hstore')
  const places = { HSTORE_STORE: path.join(dir, 'store'), HSTORE_KEYS: path.join(dir, 'keys') }
  const env = { ...process.env, ...places }
  return execFileSync(process.execPath, [hstore, ...argv], { encoding: 'utf8', env })
}

/** Builds a store in `dir` whose lane has `size` entries that both agents have read; returns who owns it then. */
export async function buildLane(dir, size) {
  mkdirSync(dir, { recursive: true })
  run(dir, ['init', '--as', agents[0], '--no-passphrase'])
  const key = run(dir, ['key', 'new', agents[1], '--no-passphrase']).trim()
  run(dir, ['roster', 'add', agents[1], key])
  const writer = await Writer.open(dir)
  try {
    for (const step of stepsOf(size)) await writer.write(step)
    await writer.flush()
    return writer.owner
  } finally {
    await writer.close()
  }
}

/** The steps of a lane: who writes what. */
export function* stepsOf(size) {
  yield { by: 0, kind: 'lane-open' }
  let owner = 0
  for (let i = 1; i < size; i++) {
    const at = i % between
    const kind = ['proposal', 'signal', 'ack', 'lane-commit'][at - (between - 4)] ?? 'lane-status'
    yield { by: kind === 'signal' || kind === 'ack' ? 1 - owner : owner, kind, i }
    if (kind === 'lane-commit') owner = 1 - owner
  }
}

class Writer {
  #below
  #context
  #signers
  #chains = new Map()
  #ends = new Set()
  #unread = new Map()
  #last = {}
  #generations = new Map()
  #epoch = 1
  #waiting = 0

  static async open(dir) {
    const load = (file) => import(pathToFileURL(path.join(dist, file)).href)
    const files = ['src/lanes/bodies.js', 'store/block.js', 'store/canonical.js']
    const writer = new Writer()
    writer.#below = Object.assign(await loadBelow(), ...(await Promise.all(files.map(load))))
    const { openContext, openSigner, keyPath } = writer.#below
    const keys = path.join(dir, 'keys')
    writer.#signers = await Promise.all(
      agents.map((agent) => openSigner(keyPath(keys, agent), undefined)),
    )
    const folder = path.join(dir, 'store')
    writer.#context = await openContext({ folder, keysFolder: keys, waitMs: 0 })
    for (const agent of agents) writer.#unread.set(agent, [])
    return writer
  }

  get owner() {
    return agents[(this.#epoch - 1) % 2]
  }

  async write({ by, kind, i }) {
    const { seal, laneForm, nameOf, refsOf, HashedBlock, encodeForm } = this.#below
    const author = agents[by]
    const signer = this.#signers[by]
    const body = { kind, lane_id: lane, ...this.#bodyOf(kind, by, i) }
    if (['lane-status', 'proposal', 'ack'].includes(kind)) body.observed = this.#observe(by)
    const block = HashedBlock.of(encodeForm(laneForm(body)), 'dag-json')
    const chain = this.#chains.get(author)
    const parents = this.#last.node === undefined ? [] : [this.#last.node]
    const { trust } = this.#context
    const payload = { author, body: block.cid, kind, name: nameOf(body), parents }
    const place = { refs: refsOf(body), prev: chain ? [chain.cid] : [], seq: (chain?.seq ?? 0) + 1 }
    const constant = { artifacts: undefined, shallow: [], source: undefined, witness: false }
    const sealed = seal(
      {
        ...payload,
        ...place,
        ...constant,
        roster: trust.rosterBody,
        signer: signer.did,
        store: trust.genesis,
        stream: `lane:${lane}`,
      },
      signer,
    )
    await this.#put(sealed, block)
    this.#note(sealed, block, body)
  }

  async flush() {
    const { db, marks } = this.#context
    const through = [...this.#ends].toSorted(byText)
    const rows = agents.map((agent) => marks.readRow(agent, `lane:${lane}`, through))
    await db.commit({ blocks: [], rows })
    await db.flushed()
  }

  async close() {
    await this.#context.db.close()
  }

  #bodyOf(kind, by, i) {
    const { head, proposal, signal, ack } = this.#last
    const epoch = this.#epoch
    const step = {
      writer_ownership_epoch: epoch,
      observed_through_event_id: head,
      expected_predecessor_id: head,
    }
    switch (kind) {
      case 'lane-open':
        return { ownership_epoch: 1, status: 'ACTIVE' }
      case 'lane-status':
        return { ...step, next_status: `S${i}` }
      case 'proposal': {
        const to = { target_owner_ref: agents[1 - by], target_ownership_epoch: epoch + 1 }
        return { ...step, ...to, reachability_surface_ref: 'board' }
      }
      case 'signal': {
        const ticks = { observed_at_tick: 1000 + i, valid_until_tick: 1000 + i + day }
        return { surface_ref: 'board', status: 'READY', ...ticks }
      }
      case 'ack':
        return {
          accepted_handoff_event_id: proposal,
          accepted_ownership_epoch: epoch + 1,
          observed_predecessor_id: head,
        }
      default:
        return { ownership_epoch: epoch, proposal, signal, ack, tick: 1000 + i }
    }
  }

  /** All is read that is there; the digest is over what came since the signer's last. */
  #observe(by) {
    const hash = createHash('sha256')
    const add = (bytes) => {
      const length = Buffer.alloc(8)
      length.writeBigUInt64BE(BigInt(bytes.length))
      hash.update(length).update(bytes)
    }
    add(Buffer.from('hstore.read.v1'))
    add(Buffer.from(this.#signers[by].did))
    const unread = this.#unread.get(agents[by])
    unread.sort((a, b) => a.generation - b.generation || (a.cid < b.cid ? -1 : 1))
    for (const { blocks } of unread) for (const bytes of blocks) add(bytes)
    this.#unread.set(agents[by], [])
    return { held: new Uint8Array(hash.digest()), through: [...this.#ends].toSorted(byText) }
  }

  async #put({ block, entry }, body) {
    const { planRows, rowOf } = this.#below
    const { db, marks } = this.#context
    const rows = planRows((index, key) => db.readRow(index, key), rowOf(entry))
    const written = db.commit({
      blocks: [block, body],
      rows: [...rows, marks.madeRow(entry.cid)],
    })
    this.#waiting += 1
    if (this.#waiting % 256 === 0) await written
  }

  #note({ entry, block }, bodyBlock, body) {
    const { cid, author, seq, parents, prev } = entry
    const links = [...parents, ...prev]
    const generation = 1 + Math.max(0, ...links.map((link) => this.#generations.get(link)))
    this.#generations.set(cid, generation)
    for (const link of links) this.#ends.delete(link)
    this.#ends.add(cid)
    this.#chains.set(author, { cid, seq })
    const blocks = [block.bytes, bodyBlock.bytes]
    for (const unread of this.#unread.values()) unread.push({ cid, generation, blocks })
    const { kind } = body
    if (kind === 'lane-commit') {
      this.#epoch += 1
      Object.assign(this.#last, { node: cid, head: body.proposal })
    } else if (kind.startsWith('lane-')) Object.assign(this.#last, { node: cid, head: cid })
    else this.#last[kind] = cid
  }
}

function byText(a, b) {
  return a < b ? -1 : 1
}
