import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CidText } from '../../store/cid-text.ts'
import { digestOf, isCidText } from '../../store/cid-text.ts'
import { isAbsent } from '../../store/level-errors.ts'
import type { StagedArtifact } from '../../store/stage-artifact.ts'
import { stagedFile } from '../../store/stage-artifact.ts'
import { HandoffError } from '../errors.ts'
import { hashFile, LargePart } from './large-part.ts'
import { claimPart, partFilesIn, releasePart } from './part-claim.ts'
import type { Presence } from './presence.ts'
import { quarantineErrorOf } from './presence.ts'

/** What a large artifact's file counts as, at least: files cost more than their bytes. */
const minPartBytes = 64 * 1024
/** So long another writer is waited for: about as long as a request takes on a slow way. */
const waitMs = 10_000
const lookMs = 20

/** Large artifacts in quarantine: those that are coming, each with one writer at a time, and those that came whole. */
export class LargeParts {
  readonly #directory: string
  readonly #folder: string
  readonly #presence: Presence
  /** Those that are written here. */
  readonly #held = new Map<CidText, LargePart>()

  /**
   * @param directory - The store's folder.
   * @param folder - The remote's in quarantine.
   * @param presence - Of who uses it.
   */
  constructor(directory: string, folder: string, presence: Presence) {
    this.#directory = directory
    this.#folder = folder
    this.#presence = presence
  }

  /**
   * Keeps all others from writing one, until it is whole, refused, or left.
   *
   * @param hungUp - Aborted once nobody waits for it any more.
   * @param mostMs - How long another writer is waited for.
   * @returns False where another writes it all the time.
   */
  async hold(artifact: CidText, hungUp?: AbortSignal, mostMs: number = waitMs): Promise<boolean> {
    if (this.#held.has(artifact)) return true
    const untilMs = performance.now() + mostMs
    for (;;) {
      const file = await this.#ours(() => claimPart(this.#folder, artifact, this.#presence))
      if (file !== undefined) {
        this.#held.set(artifact, new LargePart(file))
        return true
      }
      if (performance.now() > untilMs) return false
      await sleep(lookMs * (1 + Math.random()))
      hungUp?.throwIfAborted()
    }
  }

  /** Returns how many bytes of one are here. */
  async sizeOf(artifact: CidText): Promise<number> {
    const coming = partFilesIn(this.#folder).filter((one) => one.artifact === artifact)
    const files = [...coming.map(({ file }) => file), this.#wholeOf(artifact)]
    const sizes = await Promise.all(files.map(sizeOrNone))
    return Math.max(...sizes)
  }

  /** Returns the bytes of all but one, and but those that `isCounted` leaves out. */
  async sizeBeside(artifact: CidText, isCounted: (other: CidText) => boolean): Promise<number> {
    const whole = this.#wholes().map((cid) => ({ artifact: cid, file: this.#wholeOf(cid) }))
    let size = 0
    for (const one of [...partFilesIn(this.#folder), ...whole])
      if (one.artifact !== artifact && isCounted(one.artifact))
        size += Math.max(minPartBytes, await sizeOrNone(one.file))
    return size
  }

  /** Returns whether one came whole, and hashes to its name. */
  isWhole(artifact: CidText): boolean {
    return existsSync(this.#wholeOf(artifact))
  }

  /**
   * Adds bytes to one that is held.
   *
   * @param at - How many are here.
   * @throws {StoreError} `HSTORE_STORE_BUSY` where it is another number.
   */
  async append(artifact: CidText, at: number, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#ours(() => this.#held.get(artifact)!.append(at, chunks))
  }

  /** Throws away what came of one, unless another writes it. */
  refuse(artifact: CidText): void {
    const mine = this.#held.get(artifact)?.file
    for (const one of partFilesIn(this.#folder))
      if (one.artifact === artifact && (!one.isHeld || one.file === mine))
        rmSync(one.file, { force: true })
  }

  /**
   * Returns one that is held, where all that came hashes to it.
   *
   * @throws {HandoffError} `HSTORE_REMOTE_INVALID`: what came is thrown away.
   */
  async complete(artifact: CidText, remote: string): Promise<StagedArtifact> {
    const part = this.#held.get(artifact)!
    try {
      const digest = await this.#ours(() => part.settle())
      if (!digest.equals(digestOf(artifact))) {
        rmSync(part.file, { force: true })
        throw unfit(artifact, remote)
      }
      return await this.#ours(() => {
        renameSync(part.file, this.#wholeOf(artifact))
        return this.#staged(artifact, part.sizeBytes)
      })
    } finally {
      await this.leave(artifact)
    }
  }

  /** Yields those that came whole before, where their bytes still hash to them; the others are thrown away. */
  async *whole(): AsyncGenerator<StagedArtifact> {
    for (const cid of this.#wholes()) {
      const sizeBytes = await this.#ours(() => this.#sizeOfSound(cid))
      if (sizeBytes !== undefined) yield this.#staged(cid, sizeBytes)
    }
  }

  async close(): Promise<void> {
    for (const artifact of this.#held.keys()) await this.leave(artifact)
  }

  /** Leaves one to the next writer. */
  async leave(artifact: CidText): Promise<void> {
    const part = this.#held.get(artifact)
    if (part === undefined) return
    this.#held.delete(artifact)
    await part.close()
    await this.#ours(() => releasePart(this.#folder, artifact, part.file))
  }

  /** One that is gone has another put in the store meanwhile. */
  async #sizeOfSound(cid: CidText): Promise<number | undefined> {
    const file = this.#wholeOf(cid)
    try {
      const { size } = await stat(file)
      if ((await hashFile(file)).digest().equals(digestOf(cid))) return size
      rmSync(file, { force: true })
    } catch (error) {
      if (!isAbsent(error)) throw error
    }
    return undefined
  }

  #staged(cid: CidText, sizeBytes: number): StagedArtifact {
    return stagedFile(this.#directory, this.#wholeOf(cid), { cid, sizeBytes })
  }

  #wholes(): CidText[] {
    return readdirSync(this.#folder).flatMap((name) => {
      const cid = name.slice('whole-'.length)
      return name.startsWith('whole-') && isCidText(cid) ? [cid] : []
    })
  }

  #wholeOf(artifact: CidText): string {
    return path.join(this.#folder, `whole-${artifact}`)
  }

  async #ours<T>(act: () => T | Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      throw quarantineErrorOf(error, this.#directory)
    }
  }
}

function unfit(artifact: CidText, remote: string): HandoffError {
  return new HandoffError(
    'HSTORE_REMOTE_INVALID',
    `${remote} sent bytes for the artifact ${artifact} that do not hash to it: they were thrown away`,
    { details: { cid: artifact } },
  )
}

async function sizeOrNone(file: string): Promise<number> {
  const found = await stat(file).catch(() => undefined)
  return found?.isFile() === true ? found.size : 0
}
