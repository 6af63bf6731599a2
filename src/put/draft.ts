import type { CidText } from '../../store/cid-text.ts'
import type { Block } from '../../store/block.ts'

/** A document that is to become an entry: checked, in canonical form, its files staged. */
export interface Draft {
  readonly kind: string
  readonly stream: string
  readonly author: string
  readonly body: Block
  readonly name: string | undefined
  /** Names of the nodes that the document follows (envelopes). */
  readonly parentNames: readonly string[]
  /** Nodes named outright: they may have children already. */
  readonly parents: readonly CidText[]
  /** Names that stay without a link: given, or all that the store does not hold. */
  readonly shallow: 'absent' | readonly string[]
  readonly refs: readonly CidText[]
  readonly artifacts: Block | undefined
  readonly source: Block | undefined
  readonly witness: boolean
  /** Blocks that go into the same batch: small artifacts. */
  readonly blocks: readonly Block[]
}
