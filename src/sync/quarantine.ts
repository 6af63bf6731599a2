import { createHash, randomUUID } from 'node:crypto'
import { constants, copyFileSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { CidText } from '../../store/cid-text.ts'
import { StoreError } from '../../store/errors.ts'
import { isAbsent } from '../../store/level-errors.ts'
import { HandoffError } from '../errors.ts'
import { makeFolder } from '../kernel/files.ts'
import type { QuarantineLimits } from './arrivals.ts'
import { Arrivals, quarantineLimits } from './arrivals.ts'
import { LargeParts } from './large-parts.ts'
import { isPresent, Presence, quarantineErrorOf } from './presence.ts'

/** Files that who wrote them has closed. */
const free = /^blocks(?:\.[\da-f-]+)?$/
const active = /^blocks-([\da-f-]+)(?:_\d+)?$/

/**
 * Where the blocks of one remote wait until they are judged, in a folder of the store. What was there when a sync was cut
 * short is taken up by the next one.
 */
export class Quarantine {
  readonly arrivals: Arrivals
  readonly large: LargeParts
  readonly #folder: string
  readonly #file: string
  readonly #presence: Presence
  readonly #limits: QuarantineLimits
  /** Sizes of large artifacts, as entries that have a right say. */
  readonly promised: Map<CidText, number>

  private constructor(
    directory: string,
    folder: string,
    presence: Presence,
    limits: QuarantineLimits,
    promised: Map<CidText, number>,
  ) {
    this.#limits = limits
    this.promised = promised
    this.#folder = folder
    this.#presence = presence
    this.large = new LargeParts(directory, folder, presence)
    this.#file = path.join(folder, `blocks-${presence.name}`)
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
    let presence: Presence | undefined
    try {
      presence = new Presence(folder)
      return new Quarantine(directory, folder, presence, limits, promised)
    } catch (error) {
      presence?.end()
      throw quarantineErrorOf(error, directory)
    }
  }

  /**
   * Returns how many bytes a large artifact may have here: as many as were promised, else what the bound leaves beside all
   * that waits and was not promised.
   */
  async roomFor(artifact: CidText): Promise<number> {
    const promised = this.promised.get(artifact)
    if (promised !== undefined) return promised
    const isCounted = (other: CidText): boolean => !this.promised.has(other)
    const beside = await this.large.sizeBeside(artifact, isCounted)
    return Math.max(0, this.#limits.sizeBytes - this.arrivals.sizeBytes - beside)
  }

  /**
   * Takes in a large artifact that is held and has come.
   *
   * @throws {HandoffError} `HSTORE_REMOTE_INVALID` when its bytes do not hash to it: they are thrown away.
   */
  async complete(artifact: CidText, remote: string): Promise<void> {
    this.arrivals.addLarge(await this.large.complete(artifact, remote))
  }

  /** Takes in the large artifacts that came whole before, where their bytes still hash to them. */
  async completeAll(): Promise<void> {
    for await (const artifact of this.large.whole()) this.arrivals.addLarge(artifact)
  }

  /** Leaves what waits for the next one. */
  async close(): Promise<void> {
    this.arrivals.close()
    // under a name of its own: another may have left some meanwhile
    const left = path.join(this.#folder, `blocks.${randomUUID()}`)
    if (this.arrivals.size > 0) renameOver(this.#file, left)
    await this.large.close()
    this.#presence.end()
  }
}

/** What a shipped store points at is nothing of this store's. */
function assertFolder(folder: string): void {
  if (lstatSync(folder).isDirectory()) return
  const message = `${folder}: is no folder of the store: remove it and sync again`
  throw new StoreError('HSTORE_STORE_UNREADABLE', message)
}

/**
 * What another is using stays its own; what was left, and what the dead have left, is taken over: the first file of it as
 * `file`, the others under names that are returned.
 */
function takeUp(folder: string, file: string): readonly string[] {
  const taken: string[] = []
  for (const name of readdirSync(folder)) {
    const user = active.exec(name)?.[1]
    const isFree = free.test(name)
    if (!isFree && (user === undefined || isPresent(folder, user))) continue
    const from = path.join(folder, name)
    const to = taken.length === 0 ? file : `${file}_${taken.length}`
    if (isFree ? renameOver(from, to) : takeFromDead(from, to)) taken.push(to)
  }
  return taken.slice(1)
}

/** The dead may live after all, and have it open: their bytes are taken, not their file. */
function takeFromDead(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE)
    rmSync(from, { force: true })
    return true
  } catch (error) {
    if (isAbsent(error)) return false // another has taken it
    rmSync(to, { force: true })
    throw error
  }
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
