import type { Level } from 'level'
import { StoreError } from './errors.ts'

/**
 * Returns LevelDB, which is loaded at the first call.
 *
 * @throws {StoreError} `HSTORE_LEVELDB_MISSING` when its package is not there, or not built for this machine: no store is
 *   damaged by that.
 */
export async function loadLevel(): Promise<typeof Level> {
  try {
    return (await import('level')).Level
  } catch (cause) {
    const [why] = (cause instanceof Error ? cause.message : String(cause)).split('\n', 1)
    const message = `LevelDB can't be loaded (${why}): install hstore and its packages again; no store was touched`
    throw new StoreError('HSTORE_LEVELDB_MISSING', message, { cause })
  }
}
