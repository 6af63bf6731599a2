import { StoreError } from './errors.ts'
import type { StoreErrorCode } from './errors.ts'

const full = /no space left|quota exceeded|ENOSPC|EDQUOT/i
const tooLarge = /file too large|EFBIG/i
const readOnly =
  /read-only file system|permission denied|operation not permitted|EROFS|EACCES|EPERM/i
const exhausted = /too many open files|cannot allocate memory|EMFILE|ENFILE|ENOMEM/i

/** Returns whether LevelDB refused to open since a process holds the database. */
export function isLocked(error: unknown): boolean {
  return chainOf(error).some((link) => codeOf(link) === 'LEVEL_LOCKED')
}

/** Returns whether the file system refused since the thing is not there. */
export function isAbsent(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
}

/** Returns the `code` that an error carries, '' for none. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}

/**
 * Returns what an error of LevelDB or of the file system means for a store: a StoreError, or a TypeError or RangeError
 * where it is the caller's mistake, such as a read from a closed database.
 *
 * LevelDB puts the operating system's reason into its message only, so that is where it is looked for.
 *
 * @param directory - The store, for the message.
 */
export function storeErrorOf(error: unknown, directory: string): Error {
  if (error instanceof StoreError) return error
  if (error instanceof TypeError || error instanceof RangeError) return error
  if (/^LEVEL_\w+_NOT_OPEN$/.test(codeOf(error)) && chainOf(error).length === 1) {
    return new TypeError(`${directory}: the database is closed`, { cause: error })
  }
  const reason = reasonOf(error)
  const [code, advice] = judge(reason)
  return new StoreError(code, `${directory}: ${advice} (${reason})`, { cause: error })
}

function judge(reason: string): readonly [StoreErrorCode, string] {
  if (full.test(reason)) {
    return ['HSTORE_STORE_FULL', 'the disk is full, this was not written: make room and try again']
  }
  if (tooLarge.test(reason)) {
    const advice = 'no file may grow to that size, this was not written: see ulimit -f and the disk'
    return ['HSTORE_STORE_FULL', advice]
  }
  if (readOnly.test(reason)) {
    // LevelDB writes whenever it opens, so there is no reading without
    const advice =
      'the store can not be read and written: check owner, mode and mount, or work on a copy'
    return ['HSTORE_STORE_READ_ONLY', advice]
  }
  if (exhausted.test(reason)) {
    return ['HSTORE_STORE_UNREADABLE', 'the system is short of files or memory: try again']
  }
  return ['HSTORE_STORE_DAMAGED', 'the store is damaged: run hstore fsck']
}

/** The innermost reason on one line, with the code in front where the message does not hold it. */
function reasonOf(error: unknown): string {
  const last = chainOf(error).at(-1)
  const [line = ''] = (last instanceof Error ? last.message : String(last)).split('\n', 1)
  const code = codeOf(last)
  return line.startsWith(code) ? line : `${code}: ${line}`
}

function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = []
  for (let link = error; link !== undefined && chain.length < 8;) {
    chain.push(link)
    link = link instanceof Error ? link.cause : undefined
  }
  return chain
}
