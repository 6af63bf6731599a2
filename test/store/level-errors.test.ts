import { describe, expect, it } from 'vitest'
import { StoreError } from '../../store/errors.ts'
import { isLocked, storeErrorOf } from '../../store/level-errors.ts'

// Messages as LevelDB 1.20 and Node give them; most can't be brought about on demand.
const cases: readonly (readonly [string, string | undefined, string])[] = [
  ['IO error: /s/db/000005.log: No space left on device', 'LEVEL_IO_ERROR', 'HSTORE_STORE_FULL'],
  ["ENOSPC: no space left on device, write '/s/tmp/x'", 'ENOSPC', 'HSTORE_STORE_FULL'],
  ['IO error: /s/db/000005.log: Disk quota exceeded', 'LEVEL_IO_ERROR', 'HSTORE_STORE_FULL'],
  ['IO error: /s/db/MANIFEST-000004: File too large', 'LEVEL_IO_ERROR', 'HSTORE_STORE_FULL'],
  ['EFBIG: file too large, write', 'EFBIG', 'HSTORE_STORE_FULL'],
  ['IO error: /s/db/LOCK: Read-only file system', 'LEVEL_IO_ERROR', 'HSTORE_STORE_READ_ONLY'],
  ['IO error: /s/db/LOCK: Permission denied', 'LEVEL_IO_ERROR', 'HSTORE_STORE_READ_ONLY'],
  ["EROFS: read-only file system, mkdir '/s'", 'EROFS', 'HSTORE_STORE_READ_ONLY'],
  ['IO error: /s/db/000007.ldb: Too many open files', 'LEVEL_IO_ERROR', 'HSTORE_STORE_UNREADABLE'],
  [
    'Corruption: CURRENT file does not end with newline',
    'LEVEL_CORRUPTION',
    'HSTORE_STORE_DAMAGED',
  ],
  ['IO error: /s/db/MANIFEST-000004: No such file', 'LEVEL_IO_ERROR', 'HSTORE_STORE_DAMAGED'],
  ['Invalid argument: /s/db: does not exist', undefined, 'HSTORE_STORE_DAMAGED'],
]

describe('storeErrorOf', () => {
  it.each(cases)('%s', (message, code, expected) => {
    const reason = levelError(message, code)
    const wrapped = levelError('Database failed to open', 'LEVEL_DATABASE_NOT_OPEN', reason)
    for (const error of [reason, wrapped]) {
      const mapped = storeErrorOf(error, '/s')
      expect(mapped).toMatchObject({ code: expected, cause: error })
      expect(mapped.message).toContain('/s')
      expect(mapped.message).not.toContain('\n')
    }
  })

  it('leaves errors of the store and mistakes of the caller as they are', () => {
    for (const error of [new StoreError('HSTORE_STORE_BUSY', 'busy'), new TypeError('wrong')]) {
      expect(storeErrorOf(error, '/s')).toBe(error)
    }
  })

  it('takes a read from a closed database for the caller’s mistake', () => {
    const error = levelError('Database is not open', 'LEVEL_DATABASE_NOT_OPEN')
    expect(storeErrorOf(error, '/s')).toBeInstanceOf(TypeError)
  })

  it('ends on causes that lead in a circle', () => {
    const error = levelError('Database failed to open', 'LEVEL_DATABASE_NOT_OPEN')
    error.cause = error
    expect(storeErrorOf(error, '/s')).toMatchObject({ code: 'HSTORE_STORE_DAMAGED' })
  })
})

describe('isLocked', () => {
  it('tells a held lock from other failures', () => {
    const locked = levelError('IO error: lock /s/db/LOCK: Resource unavailable', 'LEVEL_LOCKED')
    const damaged = levelError('Corruption', 'LEVEL_CORRUPTION')
    expect(isLocked(levelError('Failed', 'LEVEL_DATABASE_NOT_OPEN', locked))).toBe(true)
    expect(isLocked(levelError('Failed', 'LEVEL_DATABASE_NOT_OPEN', damaged))).toBe(false)
    expect(isLocked('LEVEL_LOCKED')).toBe(false)
  })
})

function levelError(message: string, code: string | undefined, cause?: Error): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause })
  return code === undefined ? error : Object.assign(error, { code })
}
