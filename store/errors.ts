import { HstoreError } from '../src/kernel/errors.ts'

/** Codes of what can go wrong in the store. Listed in docs/cli.md. */
export type StoreErrorCode =
  | 'HSTORE_BLOCK_CORRUPT'
  | 'HSTORE_BLOCK_INVALID'
  | 'HSTORE_BLOCK_NOT_FOUND'
  | 'HSTORE_CAR_INVALID'
  | 'HSTORE_CID_INVALID'
  | 'HSTORE_JSON_INVALID'
  | 'HSTORE_LEVELDB_MISSING'
  | 'HSTORE_STORE_BUSY'
  | 'HSTORE_STORE_DAMAGED'
  | 'HSTORE_STORE_FULL'
  | 'HSTORE_STORE_NEWER'
  | 'HSTORE_STORE_READ_ONLY'
  | 'HSTORE_STORE_UNREADABLE'

/** Whatever the store refuses or can't do. */
export class StoreError extends HstoreError<StoreErrorCode> {
  override readonly name = 'StoreError'
}
