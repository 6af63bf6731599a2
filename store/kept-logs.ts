import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { StoreError } from './errors.ts'
import { isAlive } from './holder.ts'
import type { Place } from './place.ts'

/*
 * LevelDB reads its log when it opens, leaves out in silence what it can't read, and deletes the log. So its logs are
 * kept until the opening has turned out well; where it has not, they stay in `salvage` for a rebuild, and the store is
 * not used until then. Tables are kept too where the list of tables (the MANIFEST) ends in the middle of a record:
 * LevelDB deletes tables that a shortened list does not name.
 */

const blockBytes = 32 * 1024
const headerBytes = 7
const keptName = /^kept-([1-9]\d{0,9})$/

/** Returns where logs lie that an opening could not read whole. */
export function salvagePath(directory: string): string {
  return join(directory, 'salvage')
}

/** Throws `HSTORE_STORE_DAMAGED` while there is something to salvage. */
export function assertNothingToSalvage(directory: string): void {
  if (!existsSync(salvagePath(directory))) return
  const message = `${directory}: the database's log is damaged, and its files are kept in ${salvagePath(directory)}: run hstore fsck --rebuild`
  throw new StoreError('HSTORE_STORE_DAMAGED', message)
}

/** The files that one opening keeps. */
export class KeptLogs {
  readonly #place: Place
  readonly #folder: string
  #isEmpty = true

  /** Keeps what LevelDB may lose when it opens. Works on links, where the file system has them. */
  constructor(place: Place) {
    this.#place = place
    this.#folder = join(place.directory, `kept-${process.pid}`)
    settleLeftovers(place)
    const { databasePath } = place
    for (const name of filesToKeep(databasePath)) this.#keep(name)
  }

  /** Lets go of what was kept: the opening went well, or changed nothing. */
  discard(): void {
    if (!this.#isEmpty) rmSync(this.#folder, { recursive: true, force: true })
    this.#isEmpty = true
  }

  /** Leaves what was kept for a rebuild. */
  salvage(): void {
    if (!this.#isEmpty) moveToSalvage(this.#place.directory, this.#folder)
    this.#isEmpty = true
  }

  #keep(name: string): void {
    const from = join(this.#place.databasePath, name)
    const to = join(this.#folder, name)
    if (this.#isEmpty) mkdirSync(this.#folder, { mode: 0o700 })
    this.#isEmpty = false
    try {
      linkSync(from, to)
    } catch {
      // the holder of the database may have deleted it by now
      if (existsSync(from)) copyFileSync(from, to)
    }
  }
}

/** Returns how many bytes of its log LevelDB could not read when it opened last, as it wrote into its LOG. */
export function readDropped(databasePath: string): number {
  let text = ''
  try {
    text = readFileSync(join(databasePath, 'LOG'), 'latin1')
  } catch {
    return 0
  }
  return Number(/dropping (\d+) bytes/.exec(text)?.[1] ?? 0)
}

/** An opening that was killed left its links behind; whether it lost something, LevelDB's LOG still says. */
function settleLeftovers({ directory, databasePath }: Place): void {
  for (const name of readdirSync(directory)) {
    const pid = Number(keptName.exec(name)?.[1] ?? 0)
    if (pid === 0 || (pid !== process.pid && isAlive(pid))) continue
    const folder = join(directory, name)
    if (readDropped(databasePath) > 0) moveToSalvage(directory, folder)
    else rmSync(folder, { recursive: true, force: true })
  }
  assertNothingToSalvage(directory)
}

function moveToSalvage(directory: string, folder: string): void {
  const to = salvagePath(directory)
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (let i = 1; ; i++) {
    const path = join(to, String(i))
    if (existsSync(path)) continue
    renameSync(folder, path)
    return
  }
}

function filesToKeep(databasePath: string): readonly string[] {
  const names = readdirSync(databasePath)
  const logs = names.filter((name) => name.endsWith('.log') && sizeOf(databasePath, name) > 0)
  if (hasWholeManifest(databasePath)) return logs
  return [...logs, ...names.filter((name) => /\.(?:ldb|sst)$/.test(name))]
}

function sizeOf(databasePath: string, name: string): number {
  return statSync(join(databasePath, name), { throwIfNoEntry: false })?.size ?? 0
}

/** Whether the records of the MANIFEST in use follow each other to its end; true where LevelDB finds none to read. */
function hasWholeManifest(databasePath: string): boolean {
  try {
    const name = readFileSync(join(databasePath, 'CURRENT'), 'latin1').trim()
    return /^MANIFEST-\d+$/.test(name) && isWholeLog(readFileSync(join(databasePath, name)))
  } catch {
    return true
  }
}

/** Records never cross a block of 32 KiB: checksum (4 bytes), length (2), type (1), then the bytes. */
function isWholeLog(bytes: Uint8Array): boolean {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  while (at < bytes.length) {
    const left = blockBytes - (at % blockBytes)
    if (left < headerBytes) at += left
    else if (at + headerBytes > bytes.length || view.getUint8(at + 6) === 0) return false
    else at += headerBytes + view.getUint16(at + 4, true)
  }
  return at === bytes.length
}
