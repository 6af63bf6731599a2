import type { CidText } from '../../store/cid-text.ts'
import type { Entry } from '../entry/entry.ts'
import type { LaneBody, LaneKind } from './bodies.ts'

/** What the fold needs of an entry. */
export type LaneEntry = Pick<
  Entry,
  'author' | 'body' | 'cid' | 'kind' | 'name' | 'parents' | 'prev' | 'refs' | 'signer'
>

/** A valid entry of a lane with its body. */
export interface LaneItem<K extends LaneKind = LaneKind> {
  readonly entry: LaneEntry
  readonly body: LaneBody<K>
  /** For a body that says what was read: whether its digest is that of the blocks. */
  readonly isHeld: boolean
  /** Those among its parents and refs that its `through` leads to, over parents and prev. */
  readonly reads: ReadonlySet<CidText>
}

/** Whose keys count for a takeover. */
export interface LaneRoots {
  /** The holder of each root's did. */
  readonly holders: ReadonlyMap<string, string>
  /** Of how many distinct holders. */
  readonly threshold: number
}

/** Returns the item when it is of the kind asked for. */
export function ofKind<K extends LaneKind>(
  item: LaneItem | undefined,
  kind: K,
): LaneItem<K> | undefined {
  return item?.body.kind === kind ? (item as LaneItem<K>) : undefined
}

/** Returns what makes entries one event: commits of one epoch for one offer, and the signatures of one takeover. */
export function eventKey({ entry, body }: LaneItem): string {
  if (body.kind === 'lane-commit') {
    return `commit ${body.ownership_epoch} ${body.proposal} by ${entry.author}`
  }
  if (body.kind === 'lane-takeover') return `takeover ${entry.body} ${entry.parents.join()}`
  return entry.cid
}

/** Returns the id that a node has in HRC's documents. */
export function eventOf({ entry, body }: LaneItem): CidText {
  if (body.kind === 'lane-commit') return body.proposal
  return body.kind === 'lane-takeover' ? entry.body : entry.cid
}
