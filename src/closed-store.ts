import type { ByteChunks } from '../store/byte-source.ts'
import type { FsckOptions, FsckReport } from './fsck.ts'
import { fsck } from './fsck.ts'
import { assertArgument } from './kernel/errors.ts'
import { folderOf } from './store-folder.ts'
import type { OpenStoreOptions } from './store-options.ts'
import type { ImportCarReport } from './sync/import.ts'
import { importCar } from './sync/import.ts'

/**
 * Checks a store whatever state it is in, and with `rebuild` puts right what can be: see `fsck`. No other process may
 * hold it, nor may a `Store` that has called a method and was not closed.
 */
export async function fsckStore(
  options: Pick<OpenStoreOptions, 'cwd' | 'store' | 'waitMs'> &
    Partial<Pick<FsckOptions, 'forgetLost' | 'rebuild'>>,
): Promise<FsckReport> {
  assertArgument('options', options, 'object')
  const { waitMs = 30_000, rebuild = false, forgetLost = false } = options
  return fsck({ folder: folderOf(options), waitMs, rebuild, forgetLost })
}

/**
 * Takes a CAR into a store: see `importCar`. The store is opened only once the file was read to its end, and must not be
 * held by a `Store` of this process.
 */
export async function importStore(
  options: Pick<OpenStoreOptions, 'cwd' | 'genesis' | 'keys' | 'store' | 'waitMs'>,
  source: ByteChunks,
): Promise<ImportCarReport> {
  assertArgument('options', options, 'object')
  assertArgument('keys', options.keys, 'string')
  const { keys, genesis, waitMs = 30_000 } = options
  return importCar({ folder: folderOf(options), keysFolder: keys, waitMs, genesis }, source)
}
