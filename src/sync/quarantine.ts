import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { CidText } from '../../store/cid-text.ts'
import { digestOf, isCidText } from '../../store/cid-text.ts'
import { StoreError } from '../../store/errors.ts'
import type { StagedArtifact } from '../../store/stage-artifact.ts'
import { storeErrorOf } from '../../store/level-errors.ts'
import { stagedFile } from '../../store/stage-artifact.ts'
import { HandoffError } from '../errors.ts'
import { HstoreError } from '../kernel/errors.ts'
import { makeFolder } from '../kernel/files.ts'
import type { QuarantineLimits } from './arrivals.ts'
import { Arrivals, quarantineLimits } from './arrivals.ts'
import { LargePart } from './large-part.ts'

/** What a large artifact's file counts as, at least: files cost more than their bytes. */
const minPartBytes = 64 * 1024

const largeFile = /^(?:large|whole)-(.+)$/
const active = /^blocks-(\d+)-\d+$/
let opened = 0

/**
 * Where the blocks of one remote wait until they are judged, in a folder of the store. What was there when a sync was cut
 * short is taken up by the next one.
 */
export class Quarantine {
  readonly arrivals: Arrivals
  readonly #directory: string
  readonly #folder: string
  readonly #file: string
  /** Large artifacts that are coming. */
  readonly #parts = new Map<CidText, LargePart>()
  readonly #limits: QuarantineLimits
  /** Sizes of large artifacts, as entries that have a right say. */
  readonly promised: Map<CidText, number>

  private constructor(
    directory: string,
    folder: string,
    limits: QuarantineLimits,
    promised: Map<CidText, number>,
  ) {
    this.#limits = limits
    this.promised = promised
    this.#directory = directory
    this.#folder = folder
    opened += 1
    this.#file = path.join(folder, `blocks-${process.pid}-${opened}`)
    const others = takeUp(folder, this.#file)
    this.arrivals = new Arrivals(this.#file, limits)
    for (const other of others) addAll(this.arrivals, other, limits)
  }

  /**
   * @param directory - The store's folder.
   * @param who - Names the remote.
   * @param promised - Sizes that are known of.
   * @throws {StoreError} `HSTORE_STORE_UNREADABLE` where a link has the name of one of its folders.
   */
  static async open(
    directory: string,
    who: string,
    limits: QuarantineLimits = quarantineLimits,
    promised: Map<CidText, number> = new Map(),
  ): Promise<Quarantine> {
    const name = createHash('sha256').update(who).digest('hex').slice(0, 32)
    const folder = path.join(directory, 'quarantine', name)
    for (const one of [path.dirname(folder), folder]) {
      await makeFolder(one, 0o700)
      assertFolder(one)
    }
    return new Quarantine(directory, folder, limits, promised)
  }

  /** Returns how many bytes of a large artifact are here. */
  async sizeOf(artifact: CidText): Promise<number> {
    for (const file of [this.#partOf(artifact), this.#wholeOf(artifact)]) {
      const found = await stat(file).catch(() => undefined)
      if (found?.isFile() === true) return found.size
    }
    return 0
  }

  /**
   * Returns how many bytes a large artifact may have here: as many as were promised, else what the bound leaves beside all
   * that waits and was not promised.
   */
  async roomFor(artifact: CidText): Promise<number> {
    const promised = this.promised.get(artifact)
    if (promised !== undefined) return promised
    let room = this.#limits.sizeBytes - this.arrivals.sizeBytes
    for (const name of readdirSync(this.#folder)) {
      const cid = largeFile.exec(name)?.[1] as CidText | undefined
      if (cid === undefined || cid === artifact || this.promised.has(cid)) continue
      const found = await stat(path.join(this.#folder, name)).catch(() => undefined)
      room -= Math.max(minPartBytes, found?.size ?? 0)
    }
    return Math.max(0, room)
  }

  /** Throws away what came of a large artifact. */
  refuse(artifact: CidText): void {
    this.#parts.get(artifact)?.close()
    this.#parts.delete(artifact)
    rmSync(this.#partOf(artifact), { force: true })
  }

  /** Returns whether a large artifact came whole, and hashes to its name. */
  isWhole(artifact: CidText): boolean {
    return existsSync(this.#wholeOf(artifact))
  }

  /** Adds bytes to a large artifact, behind what is here. */
  async append(artifact: CidText, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const part = this.#parts.get(artifact) ?? new LargePart(this.#partOf(artifact))
    this.#parts.set(artifact, part)
    try {
      await part.append(chunks)
    } catch (error) {
      throw error instanceof HstoreError ? error : storeErrorOf(error, this.#directory)
    }
  }

  /**
   * Takes in a large artifact that is whole.
   *
   * @throws {HandoffError} `HSTORE_REMOTE_INVALID` when its bytes do not hash to it: they are thrown away.
   */
  async complete(artifact: CidText, remote: string): Promise<void> {
    const part = this.#parts.get(artifact) ?? new LargePart(this.#partOf(artifact))
    this.#parts.delete(artifact)
    await this.#settle(artifact, part, remote)
    renameSync(this.#partOf(artifact), this.#wholeOf(artifact))
    await this.#add(artifact)
  }

  /** Takes in the large artifacts that came whole before, where their bytes still hash to them. */
  async completeAll(remote: string): Promise<void> {
    for (const name of readdirSync(this.#folder)) {
      const cid = name.slice('whole-'.length)
      if (!name.startsWith('whole-') || !isCidText(cid)) continue
      const isWhole = await this.#settle(cid, new LargePart(this.#wholeOf(cid)), remote).then(
        () => true,
        () => false,
      )
      if (isWhole) await this.#add(cid)
    }
  }

  /** Throws what `complete` does. */
  async #settle(artifact: CidText, part: LargePart, remote: string): Promise<void> {
    const digest = await part.settle().catch((error: unknown) => {
      throw storeErrorOf(error, this.#directory)
    })
    if (digest.equals(digestOf(artifact))) return
    rmSync(part.file, { force: true })
    throw new HandoffError(
      'HSTORE_REMOTE_INVALID',
      `${remote} sent bytes for the artifact ${artifact} that do not hash to it: they were thrown away`,
      { details: { cid: artifact } },
    )
  }

  async #add(artifact: CidText): Promise<void> {
    this.arrivals.addLarge(await this.#staged(artifact, this.#wholeOf(artifact)))
  }

  async #staged(cid: CidText, file: string): Promise<StagedArtifact> {
    const { size } = await stat(file)
    return stagedFile(this.#directory, file, { cid, sizeBytes: size })
  }

  /** Leaves what waits for the next one. */
  close(): void {
    for (const part of this.#parts.values()) part.close()
    this.arrivals.close()
    if (this.arrivals.size > 0) renameOver(this.#file, path.join(this.#folder, 'blocks'))
  }

  #partOf(artifact: CidText): string {
    return path.join(this.#folder, `large-${artifact}`)
  }

  #wholeOf(artifact: CidText): string {
    return path.join(this.#folder, `whole-${artifact}`)
  }
}

/** What a shipped store points at is nothing of this store's. */
function assertFolder(folder: string): void {
  if (lstatSync(folder).isDirectory()) return
  const message = `${folder}: is no folder of the store: remove it and sync again`
  throw new StoreError('HSTORE_STORE_UNREADABLE', message)
}

/**
 * What another process is using stays its own; what the dead have left is taken over: the first file of it as `file`, the
 * others under names that are returned.
 */
function takeUp(folder: string, file: string): readonly string[] {
  const taken: string[] = []
  for (const name of readdirSync(folder)) {
    const pid = active.exec(name)?.[1]
    const isFree = name === 'blocks' || (pid !== undefined && !isAlive(Number(pid)))
    const to = taken.length === 0 ? file : `${file}-${taken.length}`
    if (isFree && renameOver(path.join(folder, name), to)) taken.push(to)
  }
  return taken.slice(1)
}

/** Moves what waits in another file; what there is no room for can be asked for again. */
function addAll(arrivals: Arrivals, file: string, limits?: QuarantineLimits): void {
  const more = new Arrivals(file, limits)
  try {
    for (const cid of more.cids()) arrivals.add({ cid, bytes: more.find(cid)! })
  } catch (error) {
    if (!(error instanceof HandoffError && error.code === 'HSTORE_QUARANTINE_FULL')) throw error
  } finally {
    more.close()
    rmSync(file, { force: true })
  }
}

function renameOver(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch {
    return false // gone: another process has taken it
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
