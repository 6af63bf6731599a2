import type { Block } from '../../store/block.ts'
import type { CidText } from '../../store/cid-text.ts'

/** Over all of a process: a server takes in much at once. */
const mostBytes = 16 * 1024 * 1024
let heldBytes = 0

/** Blocks that came of late, up to a limit in bytes. */
export class RecentBlocks {
  readonly #limitBytes: number
  readonly #blocks = new Map<CidText, Block>()
  #sizeBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get(cid: CidText): Block | undefined {
    return this.#blocks.get(cid)
  }

  /** Takes in a block that is not there; those that came first go. */
  add(block: Block): void {
    this.#blocks.set(block.cid, block)
    this.#sizeBytes += block.bytes.length
    heldBytes += block.bytes.length
    for (const first of this.#blocks.keys()) {
      if (this.#sizeBytes <= this.#limitBytes && heldBytes <= mostBytes) return
      this.delete(first)
    }
  }

  delete(cid: CidText): void {
    const sizeBytes = this.#blocks.get(cid)?.bytes.length ?? 0
    this.#sizeBytes -= sizeBytes
    heldBytes -= sizeBytes
    this.#blocks.delete(cid)
  }

  clear(): void {
    for (const cid of this.#blocks.keys()) this.delete(cid)
  }
}
