import { setTimeout as sleep } from 'node:timers/promises'
import { linkForm } from '../../store/canonical.ts'
import type { Block } from '../../store/block.ts'
import type { CidText } from '../../store/cid-text.ts'
import { bounded } from '../kernel/shown.ts'
import { ask } from './ask.ts'
import type { Progress } from './progress.ts'
import type { Transport } from './protocol.ts'
import { answerBytes } from './protocol.ts'
import type { WithOwn } from './reconcile.ts'
import { piecesFrom } from './serve-blocks.ts'

/** A large artifact that the remote lacks. */
export interface LargeLacking {
  readonly cid: CidText
  readonly size: number
}

/** What the remote says of one. */
interface Have {
  readonly have: number
  readonly why: string
}

/** So often in turn nothing more of one may get there: another that brings it is waited for so long each time. */
const maxTries = 8
const pauseMs = 5000
/** A remote that takes less of each request than this is left. */
const leastBytes = 16 * 1024

/** Sends large artifacts, each from where it was cut before. */
export class LargePusher {
  readonly #withOwn: WithOwn
  readonly #transport: Transport
  readonly #progress: Progress
  /** Those that did not get there, and why. */
  readonly #unfit = new Map<CidText, string>()

  constructor(withOwn: WithOwn, transport: Transport, progress: Progress) {
    this.#withOwn = withOwn
    this.#transport = transport
    this.#progress = progress
  }

  /** Sends one, or notes why it did not get there. */
  async push(large: LargeLacking): Promise<void> {
    const first = await this.#pushRest(large)
    // what lay there may have been of other bytes: that shows in the end, and it is gone then
    const { have, why } = first.have === 0 ? await this.#pushRest(large) : first
    if (have >= large.size) return
    const lost = why === '' ? 'the remote takes nothing more of it' : why
    this.#unfit.set(large.cid, `block ${large.cid} did not get there: ${lost}`)
  }

  /** Returns why one of these did not get there. */
  whyUnfit(cids: readonly CidText[]): string | undefined {
    const unfit = cids.find((cid) => this.#unfit.has(cid))
    return unfit === undefined ? undefined : this.#unfit.get(unfit)
  }

  /** Returns what is there in the end: all of it, what came until nothing more did, or nothing, where it has other bytes. */
  async #pushRest({ cid, size }: LargeLacking): Promise<Have> {
    const directory = await this.#withOwn(async ({ db }) => db.directory)
    const readFrom = (at: number): Promise<readonly Block[]> => {
      // nothing more is the sign that all has come
      if (at >= size) return Promise.resolve([])
      const { carryBytes = answerBytes } = this.#transport
      return piecesFrom({ directory }, cid, at, carryBytes)
    }
    let there = await this.#give(cid, { at: 0, size }, [])
    let ahead = { at: there.have, blocks: readFrom(there.have) }
    let left = maxTries + Math.ceil(size / leastBytes)
    for (let tries = 0; tries < maxTries && left > 0; left--) {
      const { have: at } = there
      const blocks = await (ahead.at === at ? ahead.blocks : readFrom(at))
      const next = at + sizeOf(blocks)
      const given = this.#give(cid, { at, size }, blocks)
      // read while the remote takes what is before
      ahead = { at: next, blocks: readFrom(next) }
      ahead.blocks.catch(() => undefined) // told when it is awaited
      there = await given
      this.#progress.block(sizeOf(blocks))
      const isAllGiven = blocks.length === 0 && there.why === ''
      const isThrownAway = there.have === 0 && at > 0
      if (isAllGiven || isThrownAway) break
      tries = there.have > at ? 0 : tries + 1
      if (there.why !== '') await sleep(pauseMs)
    }
    return there
  }

  async #give(
    cid: CidText,
    { at, size }: { readonly at: number; readonly size: number },
    blocks: readonly Block[],
  ): Promise<Have> {
    const order = blocks.map((block) => [linkForm(block.cid)])
    const control = { is: 'give', artifact: linkForm(cid), at, size, order }
    const { fields, blocks: none } = await ask(this.#transport, { control, blocks }, 'give')
    for await (const block of none) fields.fail(block.cid)
    return { have: fields.count('have'), why: bounded(fields.optionalText('why') ?? '') }
  }
}

function sizeOf(blocks: readonly Block[]): number {
  return blocks.reduce((size, { bytes }) => size + bytes.length, 0)
}
