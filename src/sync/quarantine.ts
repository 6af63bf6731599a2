import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, renameSync, rmSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import path from 'node:path'
import type { CidText } from '../../store/cid-text.ts'
import { digestOf, isCidText } from '../../store/cid-text.ts'
import type { StagedArtifact } from '../../store/stage-artifact.ts'
import { storeErrorOf } from '../../store/level-errors.ts'
import { stagedFile } from '../../store/stage-artifact.ts'
import { HandoffError } from '../errors.ts'
import { HstoreError } from '../kernel/errors.ts'
import { makeFolder } from '../kernel/files.ts'
import type { QuarantineLimits } from './arrivals.ts'
import { Arrivals } from './arrivals.ts'

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

  private constructor(directory: string, folder: string, limits?: QuarantineLimits) {
    this.#directory = directory
    this.#folder = folder
    opened += 1
    this.#file = path.join(folder, `blocks-${process.pid}-${opened}`)
    takeUp(folder, this.#file)
    this.arrivals = new Arrivals(this.#file, limits)
  }

  /**
   * @param directory - The store's folder.
   * @param who - Names the remote.
   */
  static async open(
    directory: string,
    who: string,
    limits?: QuarantineLimits,
  ): Promise<Quarantine> {
    const name = createHash('sha256').update(who).digest('hex').slice(0, 32)
    const folder = path.join(directory, 'quarantine', name)
    await makeFolder(folder, 0o700)
    return new Quarantine(directory, folder, limits)
  }

  /** Returns how many bytes of a large artifact are here. */
  async sizeOf(artifact: CidText): Promise<number> {
    const found = await stat(this.#partOf(artifact)).catch(() => undefined)
    return found?.isFile() ? found.size : 0
  }

  /** Adds bytes to a large artifact, behind what is here. */
  async append(artifact: CidText, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      await using handle = await open(this.#partOf(artifact), 'a', 0o600)
      for await (const chunk of chunks) await handle.writeFile(chunk)
      await handle.datasync()
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
    const file = this.#partOf(artifact)
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(file)) hash.update(chunk as Uint8Array)
    if (hash.digest().equals(digestOf(artifact))) {
      this.arrivals.addLarge(await this.#staged(artifact, file))
      return
    }
    rmSync(file, { force: true })
    throw new HandoffError(
      'HSTORE_REMOTE_INVALID',
      `${remote} sent bytes for the artifact ${artifact} that do not hash to it: they were thrown away`,
      { details: { cid: artifact } },
    )
  }

  /** Takes in the large artifacts that came whole before, where their bytes still hash to them. */
  async completeAll(remote: string): Promise<void> {
    for (const name of readdirSync(this.#folder)) {
      const cid = name.slice('large-'.length)
      if (name.startsWith('large-') && isCidText(cid))
        await this.complete(cid, remote).catch(() => undefined)
    }
  }

  async #staged(cid: CidText, file: string): Promise<StagedArtifact> {
    const { size } = await stat(file)
    return stagedFile(this.#directory, file, { cid, sizeBytes: size })
  }

  /** Leaves what waits for the next one. */
  close(): void {
    this.arrivals.close()
    if (this.arrivals.size > 0) renameOver(this.#file, path.join(this.#folder, 'blocks'))
  }

  #partOf(artifact: CidText): string {
    return path.join(this.#folder, `large-${artifact}`)
  }
}

/** What another process is using stays its own; what the dead have left is taken over, one file of it. */
function takeUp(folder: string, file: string): void {
  let isTaken = false
  for (const name of readdirSync(folder)) {
    const pid = active.exec(name)?.[1]
    const isFree = name === 'blocks' || (pid !== undefined && !isAlive(Number(pid)))
    if (!isFree) continue
    if (isTaken) rmSync(path.join(folder, name), { force: true })
    else isTaken = renameOver(path.join(folder, name), file)
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
