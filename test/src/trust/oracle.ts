/**
 * The rules of docs/trust.md and docs/format.md, «Acceptance», said once more and as plainly as can be: whole sets instead
 * of walks, no order that saves work, nothing of the code that they judge.
 */

/** A grant as the page has it. */
export interface OGrant {
  readonly kinds: readonly string[]
  readonly streams: readonly string[]
  readonly until: string | undefined
}

export interface ORoster {
  readonly version: number
  readonly prev: string | undefined
  readonly threshold: number
  readonly roots: readonly { readonly did: string; readonly holder: string }[]
  readonly agents: readonly {
    readonly id: string
    readonly aliases: readonly string[]
    readonly keys: readonly {
      readonly did: string
      readonly level: string
      readonly grants: readonly OGrant[]
    }[]
  }[]
}

export interface OEntry {
  readonly cid: string
  readonly kind: string
  readonly stream: string
  readonly author: string
  readonly signer: string
  readonly store: string
  readonly roster: string
  readonly body: string
  readonly prev: readonly string[]
  readonly seq: number
}

/** The set of blocks that is here. */
export interface OBlocks {
  readonly entries: ReadonlyMap<string, OEntry>
  readonly rosters: ReadonlyMap<string, ORoster>
  readonly cuts: ReadonlyMap<
    string,
    { key: string; pins: readonly string[]; readmitted: readonly string[] }
  >
  readonly freezes: ReadonlyMap<string, { key: string; pins: readonly string[] }>
}

type Word = 'held' | 'rejected' | 'unknown' | 'valid'

/** Returns the accepted bodies, genesis first, and those that stand against each other at the end. */
export function oraclePath(
  genesis: string,
  blocks: OBlocks,
): { readonly path: readonly string[]; readonly fork: readonly string[] } {
  const candidates = [...blocks.rosters.keys()].filter((body) => signersOf(body, blocks).size > 0)
  const accepts = (now: string, next: string): boolean => {
    const before = blocks.rosters.get(now)!
    const after = blocks.rosters.get(next)!
    return (
      after.prev === now &&
      mayFollow(before, after) &&
      hasThreshold(before, next, blocks) &&
      hasThreshold(after, next, blocks)
    )
  }
  const first = blocks.rosters.get(genesis)
  if (first === undefined || first.version !== 0 || !hasThreshold(first, genesis, blocks))
    return { path: [], fork: [] }
  const path = [genesis]
  for (;;) {
    const now = path.at(-1)!
    const next = candidates.filter((body) => accepts(now, body))
    if (next.length === 0) return { path, fork: [] }
    if (next.length === 1) {
      path.push(next[0]!)
      continue
    }
    const winners = next.filter((one) =>
      candidates.some(
        (later) =>
          accepts(one, later) &&
          next.every((side) => hasThreshold(blocks.rosters.get(side)!, later, blocks)),
      ),
    )
    if (winners.length !== 1) return { path, fork: next.sort() }
    path.push(winners[0]!)
  }
}

function signersOf(body: string, { entries }: OBlocks): Set<string> {
  const dids = new Set<string>()
  for (const entry of entries.values())
    if (entry.kind === 'roster' && entry.body === body && entry.author === entry.signer)
      dids.add(entry.signer)
  return dids
}

function hasThreshold({ roots, threshold }: ORoster, body: string, blocks: OBlocks): boolean {
  const signers = signersOf(body, blocks)
  const holders = new Set<string>()
  for (const { did, holder } of roots) if (signers.has(did)) holders.add(holder)
  return holders.size >= threshold
}

/** Nothing is forgotten, nothing changes hands, no level rises, no grant opens again. */
function mayFollow(now: ORoster, next: ORoster): boolean {
  if (next.version !== now.version + 1) return false
  for (const agent of now.agents) {
    const later = next.agents.find(({ id }) => id === agent.id)
    if (later === undefined) return false
    for (const alias of agent.aliases) if (!later.aliases.includes(alias)) return false
    for (const key of agent.keys) {
      const kept = later.keys.find(({ did }) => did === key.did)
      if (kept === undefined) return false
      if (key.level === 'file' && kept.level === 'agent') return false
      if (!keepsAll(key.grants, kept.grants)) return false
    }
  }
  return true
}

function keepsAll(before: readonly OGrant[], after: readonly OGrant[]): boolean {
  const gives = (a: OGrant, b: OGrant): boolean =>
    a.kinds.join() === b.kinds.join() && a.streams.join() === b.streams.join()
  return before.every((grant) =>
    grant.until === undefined
      ? after.some((one) => gives(one, grant))
      : after.some((one) => gives(one, grant) && one.until === grant.until),
  )
}

/** Returns the standing of an entry whose signature stands. */
export function oracleStanding(
  entry: OEntry,
  genesis: string,
  accepted: { readonly path: readonly string[]; readonly fork: readonly string[] },
  blocks: OBlocks,
): Word {
  if (entry.store !== genesis) return 'rejected'
  if (entry.kind === 'roster') {
    if (entry.author !== entry.signer) return 'rejected'
    const at = accepted.path.indexOf(entry.body)
    const two = at < 0 ? [] : accepted.path.slice(Math.max(0, at - 1), at + 1)
    const isRoot = two.some((body) =>
      blocks.rosters.get(body)!.roots.some(({ did }) => did === entry.signer),
    )
    return isRoot ? 'valid' : 'held'
  }
  const roster = blocks.rosters.get(accepted.path.at(-1)!)!
  const agent = roster.agents.find(({ keys }) => keys.some(({ did }) => did === entry.signer))
  if (agent === undefined) return 'unknown'
  if (accepted.fork.length > 0) return 'held'
  if (agent.id !== entry.author) return 'rejected'
  const right = entry.kind === 'freeze' ? 'valid' : rightOf(entry, genesis, agent, blocks)
  if (right !== 'valid') return right
  return accepted.path.includes(entry.roster) ? 'valid' : 'held'
}

function rightOf(
  entry: OEntry,
  genesis: string,
  agent: ORoster['agents'][number],
  blocks: OBlocks,
): Word {
  const { grants } = agent.keys.find(({ did }) => did === entry.signer)!
  const fits = (patterns: readonly string[], text: string): boolean =>
    patterns.some((one) => one === text || (one.endsWith('*') && text.startsWith(one.slice(0, -1))))
  const fitting = grants.filter(
    ({ kinds, streams }) => fits(kinds, entry.kind) && fits(streams, entry.stream),
  )
  if (fitting.length === 0) return 'rejected'
  const cuts = fitting.flatMap(({ until }) => (until === undefined ? [] : [until]))
  if (cuts.some((cut) => cutCovers(cut, entry.signer, blocks).has(entry.cid))) return 'valid'
  const isOpen = fitting.some(({ until }) => until === undefined)
  if (isOpen) {
    const notes = [...blocks.entries.values()].filter(
      ({ author, kind, signer, store }) =>
        kind === 'freeze' && signer === entry.signer && store === genesis && author === agent.id,
    )
    return notes.some((note) => isStopped(note, entry, grants, blocks)) ? 'held' : 'valid'
  }
  return cuts.some((cut) => isUndecided(cut, entry, blocks)) ? 'held' : 'rejected'
}

/** Whether a freeze is in force and does not cover the entry. */
function isStopped(
  note: OEntry,
  entry: OEntry,
  grants: readonly OGrant[],
  blocks: OBlocks,
): boolean {
  const closed = grants.flatMap(({ until }) => (until === undefined ? [] : [until]))
  if (closed.some((cut) => cutCovers(cut, entry.signer, blocks).has(note.cid))) return false
  // one whose body is not here holds everything
  const freeze = blocks.freezes.get(note.body) ?? { key: entry.signer, pins: [] }
  if (freeze.key !== entry.signer) return false
  return !coverOf(freeze.pins, entry.signer, blocks).has(entry.cid)
}

/** All that pins of a key cover: the pins that count, and what they go back to. */
function coverOf(pins: readonly string[], key: string, { entries }: OBlocks): Set<string> {
  const covered = new Set<string>()
  for (const pin of pins) if (entries.get(pin)?.signer === key) covered.add(pin)
  for (let before = -1; before !== covered.size;) {
    before = covered.size
    for (const cid of covered) {
      const entry = entries.get(cid)!
      for (const link of entry.prev) {
        const older = entries.get(link)
        if (older?.signer !== entry.signer || older.stream !== entry.stream) continue
        if (older.seq < entry.seq) covered.add(link)
      }
    }
  }
  return covered
}

function cutCovers(cid: string, key: string, blocks: OBlocks): Set<string> {
  const cut = blocks.cuts.get(cid)
  if (cut?.key !== key) return new Set()
  return new Set([...coverOf(cut.pins, key, blocks), ...cut.readmitted])
}

function isUndecided(cid: string, entry: OEntry, blocks: OBlocks): boolean {
  const cut = blocks.cuts.get(cid)
  if (cut === undefined) return true
  if (cut.key !== entry.signer) return false
  if (cut.pins.some((pin) => !blocks.entries.has(pin))) return true
  const covered = [...coverOf(cut.pins, cut.key, blocks)].map((one) => blocks.entries.get(one)!)
  return covered.some(
    ({ stream, seq, prev }) =>
      stream === entry.stream && seq > entry.seq && prev.some((link) => !blocks.entries.has(link)),
  )
}
