import { randomInt } from 'node:crypto'
import type { HistoryNode } from './history.ts'
import { ownRecords } from './history-nodes.ts'
import type { Past } from './past.ts'
import type { Register, Seen, Setting } from './register.ts'
import type { AgentOf } from './rights.ts'
import { isCreator } from './rights.ts'

/** What is known of a record that its creator stated once and took back. */
export interface TakenBack {
  readonly register: Register
  readonly past: Past
  /** The revision that left it out. */
  readonly last: HistoryNode
}

/** Records with one end of their hashes that are kept here, at most: to find one is bounded, whoever chose their ids. */
const maxAlike = 32

/**
 * Records that were stated once, with nothing to say against them, and taken back by their creators: most of a long
 * history's. Of each the two revisions tell all, so that it takes 20 bytes and not hundreds.
 */
export class TakenBackRecords {
  readonly #nodes: readonly HistoryNode[]
  readonly #seed = randomInt(2 ** 32)
  /** By the last bits of a hash: 1 + the place of the record that came last; what it follows stands in `before`. */
  #heads = new Uint32Array(1024)
  #before = new Uint32Array(1024)
  #hashes = new Uint32Array(1024)
  /** The revisions that stated it, and that left it out. */
  #firsts = new Uint32Array(1024)
  #lasts = new Uint32Array(1024)
  #count = 0

  /** @param nodes - The history, each in its place. */
  constructor(nodes: readonly HistoryNode[]) {
    this.#nodes = nodes
  }

  /** Takes in a record, and returns whether it is one that the two revisions tell all of. */
  add(key: string, register: Register, past: Past | undefined, agentOf: AgentOf): boolean {
    const settings = settingsOf(register, past, agentOf)
    if (settings === undefined) return false
    if (this.#count === this.#hashes.length) this.#grow()
    const hash = this.#hashOf(key)
    if (this.#alike(hash).length >= maxAlike) return false
    const at = this.#count++
    this.#hashes[at] = hash
    this.#firsts[at] = settings.stated.node.at
    this.#lasts[at] = settings.out.node.at
    this.#link(at)
    return true
  }

  /** Returns what is known of a record that is kept here. */
  find(key: string): TakenBack | undefined {
    const at = this.#find(key)
    if (at === undefined) return undefined
    const [first, last] = this.#nodesOf(at)
    const facts = ownRecords(first).get(key)
    const stated: Setting = { node: first, facts, ground: 'word' }
    const out: Setting = { node: last, facts: undefined, ground: 'word' }
    const seen: Seen = { facts: undefined, verdict: 'dropped', since: last }
    const before: Past = { origin: stated, state: stated, change: undefined, before: undefined }
    return {
      register: { origin: [stated], state: [out], first, seen: [seen] },
      past: { origin: undefined, state: out, change: undefined, before },
      last,
    }
  }

  /** Forgets a record. Its place is not used again: few come back. */
  delete(key: string): void {
    const at = this.#find(key)
    if (at !== undefined) this.#lasts[at] = this.#firsts[at]!
  }

  #find(key: string): number | undefined {
    const hash = this.#hashOf(key)
    return this.#alike(hash).find(
      (at) =>
        this.#hashes[at] === hash &&
        this.#lasts[at] !== this.#firsts[at] &&
        ownRecords(this.#nodesOf(at)[0]).has(key),
    )
  }

  #nodesOf(at: number): readonly [HistoryNode, HistoryNode] {
    return [this.#nodes[this.#firsts[at]!]!, this.#nodes[this.#lasts[at]!]!]
  }

  /** Returns the places of the records whose hashes end alike. */
  #alike(hash: number): readonly number[] {
    const found: number[] = []
    const start = this.#heads[hash & (this.#heads.length - 1)]!
    for (let next = start; next !== 0; next = this.#before[next - 1]!) found.push(next - 1)
    return found
  }

  #link(at: number): void {
    const end = this.#hashes[at]! & (this.#heads.length - 1)
    this.#before[at] = this.#heads[end]!
    this.#heads[end] = at + 1
  }

  #grow(): void {
    this.#hashes = twice(this.#hashes)
    this.#firsts = twice(this.#firsts)
    this.#lasts = twice(this.#lasts)
    this.#before = twice(this.#before)
    this.#heads = new Uint32Array(this.#before.length)
    for (let at = 0; at < this.#count; at++) this.#link(at)
  }

  #hashOf(key: string): number {
    let hash = this.#seed
    for (let i = 0; i < key.length; i++) {
      hash = Math.imul(hash ^ key.charCodeAt(i), 0x85ebca6b)
      hash ^= hash >>> 13
    }
    return hash >>> 0
  }
}

function twice(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(2 * numbers.length)
  more.set(numbers)
  return more
}

/** Returns the two settings of a record that has no others; undefined where more is to be said of it. */
function settingsOf(
  { origin, state, first, seen }: Register,
  past: Past | undefined,
  agentOf: AgentOf,
): { readonly stated: Setting; readonly out: Setting } | undefined {
  const stated = onlyOf(origin)
  const out = onlyOf(state)
  const last = onlyOf(seen)
  if (stated === undefined || out === undefined || last === undefined) return undefined
  const isTakenBack =
    stated.ground === 'word' &&
    stated.node === first &&
    isOut(out, last) &&
    isCreator(agentOf, stated, out.node.author)
  return isTakenBack && isAll(past, stated, out) ? { stated, out } : undefined
}

function isOut(out: Setting, { facts, since }: Seen): boolean {
  return (
    out.ground === 'word' && out.facts === undefined && facts === undefined && since === out.node
  )
}

/** Returns whether nothing was said of a record but what the two settings say. */
function isAll(past: Past | undefined, stated: Setting, out: Setting): boolean {
  if (past?.state !== out || past.origin !== undefined || past.change !== undefined) return false
  const { origin, state, change, before } = past.before ?? past
  return origin === stated && state === stated && change === undefined && before === undefined
}

function onlyOf<T>(list: readonly T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined
}
