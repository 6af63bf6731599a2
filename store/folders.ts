import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../src/kernel/files.ts'
import { StoreError } from './errors.ts'
import { codeOf, storeErrorOf } from './level-errors.ts'

/**
 * Makes the folders of a store, for their owner only, and syncs them to disk. Those that are there stay as they are.
 *
 * @throws {StoreError} `HSTORE_STORE_UNREADABLE` when something else has the name of one.
 * @throws {StoreError} `HSTORE_STORE_FULL`, `HSTORE_STORE_READ_ONLY` when the file system refuses.
 */
export async function makeFolders(directory: string): Promise<void> {
  try {
    for (const name of ['', 'db', 'artifacts', 'tmp']) {
      await makeFolder(join(directory, name), 0o700)
    }
    await syncFolder(directory)
    await syncFolder(dirname(directory))
  } catch (error) {
    if (['EEXIST', 'ENOTDIR'].includes(codeOf(error))) {
      const message = `${directory}: a store needs a folder, and something else has its name`
      throw new StoreError('HSTORE_STORE_UNREADABLE', message, { cause: error })
    }
    throw storeErrorOf(error, directory)
  }
}

/** Syncs a folder, so that names made or changed in it outlive a crash of the machine. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
