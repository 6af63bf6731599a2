import type { CidText } from '../../store/cid-text.ts'
import type { LaneItem } from './item.ts'
import { ofKind } from './item.ts'
import type { Seen } from './seen.ts'
import { ownerAt } from './seen.ts'
import type { CountedCommit, Placed } from './view.ts'

/** The commits by which one author closes one epoch, on one base. */
interface Closing {
  readonly epoch: number
  readonly author: string
  readonly commits: CountedCommit[]
}

/** Where an author has closed an epoch for more than one offer. */
export class Closings {
  /** By what they rest on; of owners alone, lowest epoch first. */
  readonly #ofOwners = new Map<string, Closing[]>()
  readonly #closings = new Map<string, Closing>()
  readonly #owners = new Set<string>()

  /** Adds a commit of those that `doubledAmong` gives. */
  addCommit(commit: CountedCommit): void {
    const { base, epoch, author } = commit
    const key = keyOf(commit.base, epoch, author)
    const known = this.#closings.get(key)
    if (known !== undefined) {
      known.commits.push(commit)
      return
    }
    const closing = { epoch, author, commits: [commit] }
    this.#closings.set(key, closing)
    if (this.#owners.has(key)) this.#use(base, closing)
  }

  /** Adds who held the pen at a node. */
  addOwner({ base, epoch, owner }: Placed): void {
    const key = keyOf(base, epoch, owner)
    if (this.#owners.has(key)) return
    this.#owners.add(key)
    const closing = this.#closings.get(key)
    if (closing !== undefined) this.#use(base, closing)
  }

  /** Returns the first epoch that its owner has closed for two offers, among the entries that are known. */
  findTwice(seen: Seen, knows: (cid: CidText) => boolean): number | undefined {
    const all = this.#ofOwners.get(seen.since === 0 ? '' : seen.root)
    return all?.find(({ epoch, author, commits }) => {
      if (ownerAt(seen, epoch) !== author) return false
      const first = commits.find(({ cid }) => knows(cid))
      return commits.some(({ cid, proposal }) => proposal !== first?.proposal && knows(cid))
    })?.epoch
  }

  #use(base: string, closing: Closing): void {
    const all = [...(this.#ofOwners.get(base) ?? []), closing]
    this.#ofOwners.set(
      base,
      all.sort((a, b) => a.epoch - b.epoch),
    )
  }
}

/** Returns the commits whose author has made another for the same epoch and another offer. */
export function doubledAmong(items: Iterable<LaneItem>): ReadonlySet<CidText> {
  const groups = new Map<string, { readonly cids: CidText[]; readonly proposals: Set<CidText> }>()
  for (const item of items) {
    const commit = ofKind(item, 'lane-commit')
    if (commit === undefined) continue
    const key = keyOf('', commit.body.ownership_epoch, commit.entry.author)
    const group = groups.get(key) ?? { cids: [], proposals: new Set() }
    groups.set(key, group)
    group.cids.push(commit.entry.cid)
    group.proposals.add(commit.body.proposal)
  }
  return new Set(
    [...groups.values()].flatMap(({ cids, proposals }) => (proposals.size > 1 ? cids : [])),
  )
}

function keyOf(base: string, epoch: number, author: string): string {
  return `${epoch} ${author} ${base}`
}
