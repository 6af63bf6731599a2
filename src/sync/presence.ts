import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { StoreError } from '../../store/errors.ts'
import { codeOf, storeErrorOf } from '../../store/level-errors.ts'
import { HstoreError } from '../kernel/errors.ts'
import { forgetTemporary, noteTemporary } from '../kernel/temporaries.ts'

// Process numbers say nothing across containers that share a store. So whoever uses a folder of the quarantine has a name
// that nobody else has, which its files carry, and touches a file `live-NAME` all the time. One that could not for a while
// is taken for dead. Nothing hangs on that being true: the files of the dead are copied and unlinked, never written to.

const beatMs = 1000
const lostMs = 5000
const live = /^live-([\da-f-]+)$/
/** Those of this process: a beat may come late after much work. */
const ours = new Set<string>()

/** One that uses a folder of the quarantine, until it ends. */
export class Presence {
  readonly name: string = randomUUID()
  readonly #file: string
  readonly #timer: NodeJS.Timeout

  constructor(folder: string) {
    this.#file = liveFile(folder, this.name)
    removeLost(folder)
    // a process that is told to end takes it along: then the next one need not wait
    noteTemporary(this.#file)
    touch(this.#file)
    ours.add(this.name)
    this.#timer = setInterval(() => beat(this.#file), beatMs).unref()
  }

  /** To be called once its files are left to others. */
  end(): void {
    clearInterval(this.#timer)
    rmSync(this.#file, { force: true })
    forgetTemporary(this.#file)
    ours.delete(this.name)
  }
}

/** Returns whether one of that name uses the folder, as far as is known. */
export function isPresent(folder: string, name: string): boolean {
  if (ours.has(name)) return true
  const found = statSync(liveFile(folder, name), { throwIfNoEntry: false })
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) < lostMs
}

/** Returns what an error means that a file in quarantine made. */
export function quarantineErrorOf(error: unknown, directory: string): Error {
  if (error instanceof HstoreError) return error
  if (!['EEXIST', 'ENOENT'].includes(codeOf(error))) return storeErrorOf(error, directory)
  return takenOver(`what waited in quarantine in ${directory}`, error)
}

/** What was taken for dead and is not, or had its files removed, gives up. */
export function takenOver(what: string, cause?: unknown): StoreError {
  const message = `${what} was taken over by another sync: sync again when that one has ended`
  return new StoreError('HSTORE_STORE_BUSY', message, { cause })
}

function liveFile(folder: string, name: string): string {
  return path.join(folder, `live-${name}`)
}

function removeLost(folder: string): void {
  for (const file of readdirSync(folder)) {
    const name = live.exec(file)?.[1]
    if (name !== undefined && !isPresent(folder, name))
      rmSync(liveFile(folder, name), { force: true })
  }
}

function beat(file: string): void {
  try {
    touch(file)
  } catch {
    // a disk that takes no names: others may take it for dead, which it finds out
  }
}

function touch(file: string): void {
  closeSync(openSync(file, 'a', 0o600))
  const now = new Date()
  utimesSync(file, now, now)
}
