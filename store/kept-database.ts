import { lstatSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, HeldLevel, OpenOptions } from './database.ts'
import { databaseOver, holdLevel } from './database.ts'
import { lockFilePath } from './lock-file.ts'
import type { Place } from './place.ts'
import { findPlace } from './place.ts'
import { assertWait, maxDelayMs } from './wait.ts'
import { isWanted, takeWordBack } from './wanted.ts'

/** So long LevelDB stays open when nobody uses it and nobody waits for it; looked at every few ms. */
const idleMs = 1000
const lookMs = 20

/** LevelDB as the last user left it. */
interface Kept {
  readonly held: HeldLevel
  readonly state: string
}

/**
 * Opens the databases of stores as `openDatabase` does, and keeps LevelDB open from one that was closed to the next:
 * opening it takes longer than most of what is done with it. Nothing else is kept: no row, no block. Who waits in
 * another process gets the store when it is closed, or at once where nothing is open.
 */
export class KeptDatabase implements AsyncDisposable {
  #kept: Kept | undefined
  #timer: NodeJS.Timeout | undefined
  /** What is being taken or closed: one after the other. */
  #turn: Promise<void> = Promise.resolve()
  /** Until then another process has the first turn. */
  #othersFirst: Promise<void> | undefined

  /** Opens a database; throws what `openDatabase` throws. */
  async open(directory: string, options: OpenOptions): Promise<Database> {
    assertWait(options.waitMs)
    const kept = await this.#inTurn(() => this.#takeKept(resolve(directory)))
    const held = kept ?? (await this.#openNew(directory, options))
    const database: Database = databaseOver(held, async () => {
      // LevelDB takes no more after a failed write
      const isSound = await database.flushed().then(
        () => true,
        () => false,
      )
      await this.#inTurn(() => this.#rest(held, isSound))
    })
    return database
  }

  /** Lets go of what nobody uses. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#inTurn(() => this.#close())
  }

  async #takeKept(directory: string): Promise<HeldLevel | undefined> {
    const kept = this.#kept
    if (kept === undefined) return undefined
    if (!(await isAsLeft(kept, directory))) {
      await this.#close()
      return undefined
    }
    clearInterval(this.#timer)
    this.#kept = undefined
    return kept.held
  }

  async #openNew(directory: string, options: OpenOptions): Promise<HeldLevel> {
    const othersFirst = this.#othersFirst
    this.#othersFirst = undefined
    await othersFirst
    // it may be kept for verbs that read here and there
    const held = await holdLevel(directory, { ...options, scans: false })
    // the word of one who was killed would stay for ever; who still waits leaves it again
    if (othersFirst !== undefined) takeWordBack(held.place.directory)
    return held
  }

  async #rest(held: HeldLevel, isSound: boolean): Promise<void> {
    const isAwaited = isWanted(held.place.directory)
    const state = isSound && !isAwaited ? stateOf(held.place) : undefined
    await this.#close()
    this.#othersFirst = isAwaited ? sleep(maxDelayMs) : undefined
    if (state === undefined) return held.close()
    this.#kept = { held, state }
    this.#watch(held)
  }

  #watch({ place: { directory } }: HeldLevel): void {
    const sinceMs = performance.now()
    this.#timer = setInterval(() => {
      const isAwaited = isWanted(directory)
      if (!isAwaited && performance.now() - sinceMs < idleMs) return
      if (isAwaited) this.#othersFirst ??= sleep(maxDelayMs)
      // what could not be closed shows when it is opened again
      void this[Symbol.asyncDispose]().catch(() => undefined)
    }, lookMs)
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer)
    const kept = this.#kept
    this.#kept = undefined
    await kept?.held.close()
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(step)
    this.#turn = done.then(
      () => undefined,
      () => undefined,
    )
    return done
  }
}

/** Whether a store's database is the one that was left, and nobody has touched it since. */
async function isAsLeft({ held, state }: Kept, directory: string): Promise<boolean> {
  if (directory !== held.place.directory) return false
  // what an opening would find wrong it has to say itself
  const place = await findPlace(directory).catch(() => undefined)
  return place?.databasePath === held.place.databasePath && stateOf(place) === state
}

/**
 * Tells a database from one that was changed by another than LevelDB, or put in its place: whoever would write to a log
 * that is no longer there would lose it. Tables are never changed, and all that is read of them is hashed.
 */
function stateOf(place: Place): string | undefined {
  try {
    const names = readdirSync(place.databasePath).sort()
    const written = names.filter((name) => !/\.(?:ldb|sst)$|^LOG/.test(name))
    const files = [
      ...written.map((name) => join(place.databasePath, name)),
      lockFilePath(place),
      join(place.directory, 'acknowledged'),
    ]
    return [...names, ...files.map(fileState)].join('\n')
  } catch {
    return undefined
  }
}

function fileState(file: string): string {
  const found = lstatSync(file, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs} ${found.mode}`
}
