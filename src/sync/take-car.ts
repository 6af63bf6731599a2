import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type { ByteChunks } from '../../store/byte-source.ts'
import { openCar } from '../../store/car-read.ts'
import type { CarTextBlock } from '../../store/car-read.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'
import { StoreError } from '../../store/errors.ts'
import { linksIn } from '../../store/links.ts'
import { stageLarge } from '../../store/stage-artifact.ts'
import { makeFolder } from '../kernel/files.ts'
import { noteTemporary } from '../kernel/temporaries.ts'
import { Arrivals } from './arrivals.ts'
import type { LargeArtifact, Manifest } from './manifest.ts'
import { findManifest } from './manifest.ts'

/** A CAR that was read to its end, nothing of it in the store yet. */
export interface TakenCar {
  readonly root: CidText
  /** Undefined where the root is no manifest of hstore. */
  readonly manifest: Manifest | undefined
  /** The manifest is not among them. */
  readonly arrivals: Arrivals
  /** The last block of the file. */
  readonly last: CidText
}

/** Large artifacts have many pieces: with them a file may have more sections than blocks may wait to be judged. */
const maxSections = 1_000_000

/**
 * Reads a CAR into quarantine, each block hashed.
 *
 * @param directory - The store's folder, where large artifacts are put together.
 * @throws {StoreError} `HSTORE_CAR_INVALID`; nothing stays behind.
 * @throws {HandoffError} `HSTORE_QUARANTINE_FULL`
 */
export async function takeCar(directory: string, source: ByteChunks): Promise<TakenCar> {
  const { roots, blocks } = await openCar(source, { maxBlocks: maxSections })
  const [root, ...others] = roots
  if (root === undefined || others.length > 0) throw refused(`it has ${roots.length} roots, not 1`)
  await makeFolder(path.join(directory, 'tmp'), 0o700)
  const file = path.join(directory, 'tmp', randomUUID())
  noteTemporary(file)
  const arrivals = new Arrivals(file)
  try {
    return await new Taker(directory, root, arrivals).take(blocks)
  } catch (error) {
    await arrivals.drop()
    throw error
  }
}

class Taker {
  readonly #directory: string
  readonly #root: CidText
  readonly #arrivals: Arrivals
  last: CidText

  constructor(directory: string, root: CidText, arrivals: Arrivals) {
    this.#directory = directory
    this.#root = root
    this.#arrivals = arrivals
    this.last = root
  }

  async take(source: AsyncIterable<CarTextBlock>): Promise<TakenCar> {
    const blocks = source[Symbol.asyncIterator]()
    const next = (): Promise<CarTextBlock | undefined> => this.#next(blocks)
    try {
      const manifest = this.#begin(await next())
      await (manifest === undefined ? this.#takeRest(next) : this.#takeNamed(manifest, next))
      const { last } = this
      return { root: this.#root, manifest, arrivals: this.#arrivals, last }
    } finally {
      await blocks.return?.()
    }
  }

  #begin(first: CarTextBlock | undefined): Manifest | undefined {
    if (first === undefined) return undefined
    const isRoot = first.cid === this.#root && codecOf(first.cid) === 'dag-json'
    const manifest = isRoot ? findManifest(decodeForm(first.bytes).form) : undefined
    if (manifest === undefined) this.#arrivals.add(first)
    return manifest
  }

  async #takeNamed(manifest: Manifest, next: Next): Promise<void> {
    for (let count = 0; count < manifest.blocks; count++) {
      const block = await next()
      if (block === undefined) throw this.#cut(`it has ${count} of ${manifest.blocks} blocks`)
      this.#arrivals.add(block)
    }
    const pieces = new Pieces(this.#directory, this.#arrivals, manifest.large, next)
    for (const large of manifest.large) {
      const cut = await pieces.join(large)
      if (cut !== undefined) throw this.#cut(cut)
    }
    const more = await next()
    if (more === undefined) return
    throw refused(`block ${more.cid} is more than its manifest names`, { cid: more.cid })
  }

  /** A file of something else is no history; where a block is missing in it, that is said first. */
  async #takeRest(next: Next): Promise<void> {
    for (let block = await next(); block !== undefined; block = await next())
      this.#arrivals.add(block)
    for (const cid of this.#arrivals.documents()) {
      const { form } = decodeForm(this.#arrivals.find(cid)!)
      const missing = linksIn(form).find((link) => !this.#arrivals.has(link))
      if (missing !== undefined)
        throw this.#cut(`block ${missing}, which ${cid} names, is not in it`, missing)
    }
  }

  #cut(what: string, cid?: CidText): StoreError {
    const details = { last: this.last, ...(cid && { cid }) }
    return refused(`${what}; last good block ${this.last}`, details)
  }

  async #next(blocks: AsyncIterator<CarTextBlock>): Promise<CarTextBlock | undefined> {
    const { done, value } = await blocks.next()
    if (done === true) return undefined
    this.last = value.cid
    return value
  }
}

/** Puts large artifacts together, piece by piece. */
class Pieces {
  readonly #directory: string
  readonly #arrivals: Arrivals
  readonly #next: Next
  /** How often each piece is named: one that is named again stands in the file once. */
  readonly #times = new Map<CidText, number>()

  constructor(directory: string, arrivals: Arrivals, large: readonly LargeArtifact[], next: Next) {
    this.#directory = directory
    this.#arrivals = arrivals
    this.#next = next
    for (const { pieces } of large)
      for (const cid of pieces) this.#times.set(cid, (this.#times.get(cid) ?? 0) + 1)
  }

  /** Returns in words what is missing at the end of the file. */
  async join({ artifact, pieces }: LargeArtifact): Promise<string | undefined> {
    const cut: string[] = []
    const bytesOf = async function* (this: Pieces): AsyncGenerator<Uint8Array> {
      for (const cid of pieces) {
        const bytes = await this.#piece(cid)
        if (bytes === undefined) {
          cut.push(`piece ${cid} of ${artifact} is not in its place`)
          return
        }
        yield bytes
      }
    }
    const staged = await stageLarge(this.#directory, pieces.length, bytesOf.call(this))
    this.#arrivals.addLarge(staged)
    if (cut.length > 0 || staged.cid === artifact) return cut[0]
    throw refused(`the pieces of ${artifact} do not hash to it`, { cid: artifact })
  }

  async #piece(cid: CidText): Promise<Uint8Array | undefined> {
    const known = this.#arrivals.find(cid)
    if (known !== undefined) return known
    const block = await this.#next()
    if (block?.cid !== cid) return undefined
    if (this.#times.get(cid)! > 1) this.#arrivals.add(block)
    return block.bytes
  }
}

type Next = () => Promise<CarTextBlock | undefined>

function refused(what: string, details: Readonly<Record<string, unknown>> = {}): StoreError {
  return new StoreError('HSTORE_CAR_INVALID', `CAR refused: ${what}`, { details })
}
