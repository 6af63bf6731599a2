import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, constants, link, mkdir, readdir, readFile, stat, statfs } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from './errors.ts'
import { codeOf, storeErrorOf } from './level-errors.ts'
import { findUnnamedTables } from './level-manifest.ts'

/** A file of a database that can't be read as what it should be. */
export interface DamagedFile {
  readonly path: string
  /** What is wrong with it, in words. */
  readonly why: string
}

const dataFile = /\.(?:ldb|sst|log)$/

/**
 * Links the files that hold a database's rows into a new folder, where LevelDB may do with them as it likes: it never
 * writes into a table or a log that is there.
 *
 * @param whole - Copies CURRENT and the MANIFEST too, which LevelDB does write into, so that it can open the folder.
 */
export async function gatherFiles(from: string, to: string, whole: boolean): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  const items = await readdir(from, { withFileTypes: true })
  const names = items.filter((item) => item.isFile()).map(({ name }) => name)
  // LevelDB would take the name of such a table for one of its own, and write into what the link leads to
  const unnamed = new Set(whole ? findUnnamedTables(from, names) : [])
  for (const name of names) {
    if (unnamed.has(name)) continue
    if (dataFile.test(name)) await linkOrCopy(join(from, name), join(to, name))
    else if (whole && /^(?:CURRENT|MANIFEST-\d+)$/.test(name)) {
      await copyFile(join(from, name), join(to, name), constants.COPYFILE_EXCL)
    }
  }
}

/** Returns the names of the files in a folder that hold rows, in the order of their numbers. */
export async function dataFilesIn(folder: string): Promise<readonly string[]> {
  const items = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return items
    .filter((item) => item.isFile() && dataFile.test(item.name))
    .map(({ name }) => name)
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
}

/** Links one file, or copies it where the file system has no links. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error
    await copyFile(from, to, constants.COPYFILE_EXCL)
  }
}

/**
 * Returns what LevelDB's own repair said of the files of a folder that it could not read whole, by name.
 *
 * @throws {StoreError} when it was the system that failed it: a disk that is full damages nothing.
 */
export async function readRepairLog(folder: string): Promise<ReadonlyMap<string, string>> {
  const faults = new Map<string, string>()
  for (const name of ['LOG.old', 'LOG']) {
    const text = await readFile(join(folder, name), 'latin1').catch(() => '')
    for (const [, kind, number, why] of text.matchAll(fault)) {
      const file = `${number?.padStart(6, '0')}.${kind === 'Log' ? 'log' : 'ldb'}`
      refuseSystem(why ?? '', folder)
      if (!faults.has(file)) faults.set(file, why ?? '')
    }
  }
  return faults
}

const fault =
  /(Log|Table) #(\d+):[^\n]*?((?:dropping \d+ bytes|Corruption|IO error|ignoring|dropped)[^\n]*)/g

const child = `
const { Level } = require(process.argv[1])
const [, , folder, what] = process.argv
const view = { keyEncoding: 'view', valueEncoding: 'view' }
async function run() {
  if (what === 'repair') await Level.repair(folder)
  const level = new Level(folder, { createIfMissing: false, ...view })
  await level.open()
  const rows = level.iterator()
  while ((await rows.nextv(1000)).length > 0);
  await level.close()
}
run().catch((error) => {
  process.stdout.write(String((error.cause ?? error).message))
  process.exitCode = 1
})
`

/**
 * Lets LevelDB open a folder and read every row of it, after its own repair where asked for, in a process of its own:
 * on some damage it ends the process that it runs in.
 *
 * @returns Undefined when all went well, else what is wrong, in words.
 * @throws {StoreError} when it was the system that failed it.
 */
export async function tryLevel(
  folder: string,
  what: 'read' | 'repair',
): Promise<string | undefined> {
  const level = createRequire(import.meta.url).resolve('level')
  const process_ = spawn(process.execPath, ['-e', child, level, folder, what], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {},
  })
  let said = ''
  process_.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const gone = new AbortController()
  const limit = sleep(limitMs, 'late', { signal: gone.signal, ref: false }).catch(() => undefined)
  const ended = once(process_, 'close') as Promise<[number | null, string | null]>
  const first = await Promise.race([ended, limit])
  gone.abort()
  if (first === 'late') process_.kill('SIGKILL')
  const [code, signal] = await ended
  if (code === 0) return undefined
  const [line = ''] = said.split('\n', 1)
  refuseSystem(line, folder)
  return line === '' ? `LevelDB ended by ${signal ?? `exit ${code}`}` : line
}

function refuseSystem(reason: string, folder: string): void {
  const error = storeErrorOf(new Error(reason), folder)
  if (error instanceof StoreError && error.code !== 'HSTORE_STORE_DAMAGED') throw error
}

/**
 * Throws `HSTORE_STORE_FULL` when the file system has less room than LevelDB's repair and a new database may need: its
 * repair gets along without what it can't write.
 */
export async function assertRoom(folder: string, sources: readonly string[]): Promise<void> {
  const sizes = await Promise.all(sources.map(sizeOf))
  const wanted = 2 * sizes.reduce((sum, size) => sum + size, 0) + spareBytes
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize >= wanted) return
  const message = `${folder}: the disk is full, nothing was written: make room of ${wanted} bytes and try again`
  throw new StoreError('HSTORE_STORE_FULL', message)
}

const spareBytes = 1024 * 1024
const limitMs = 30 * 60 * 1000

/** Returns how many bytes the files of a store's database take. */
export function sizeOfDatabase(directory: string): Promise<number> {
  return sizeOf(join(directory, 'db'))
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder)
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
