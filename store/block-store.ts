import type { CidText } from './cid-text.ts'

/** What a read of one block gave. */
export type BlockRead =
  | { readonly state: 'ok'; readonly bytes: Uint8Array }
  | { readonly state: 'missing' }
  | { readonly state: 'corrupt' }

/** One block row as it lies in the store. */
export interface ScannedBlock {
  /** The row's key as it is spelt, without the sublevel. */
  readonly key: string
  /** The key as a CID; undefined when it is none. */
  readonly cid: CidText | undefined
  readonly bytes: Uint8Array
  /** Whether `bytes` hash to `cid`; false when the key is no CID. */
  readonly sound: boolean
}

/**
 * Read side of a store of blocks.
 *
 * Bytes come as plain `Uint8Array`, hashed and compared with the CID on each read, and belong to the store: nobody
 * changes them. A block that is part of a commit on its way to disk can be read as if it were there.
 */
export interface BlockReader {
  /**
   * Returns the bytes of a block, or undefined when the store does not hold it.
   *
   * @throws {StoreError} `HSTORE_BLOCK_CORRUPT` when the bytes do not hash to the CID; `details.cid` names it.
   */
  find(cid: CidText): Promise<Uint8Array | undefined>

  /** Does what `find` does without a wait; for what has to be read in one go with rows. */
  findNow(cid: CidText): Uint8Array | undefined

  /**
   * Returns the bytes of a block.
   *
   * @throws {StoreError} `HSTORE_BLOCK_NOT_FOUND` when the store does not hold it.
   * @throws {StoreError} `HSTORE_BLOCK_CORRUPT` when the bytes do not hash to the CID; `details.cid` names it.
   */
  get(cid: CidText): Promise<Uint8Array>

  /** Returns as many results as CIDs, in their order. A missing or bad block is a state, never an error. */
  getMany(cids: readonly CidText[]): Promise<readonly BlockRead[]>

  /** Returns whether the store holds a row for the CID; its bytes are not read. */
  has(cid: CidText): Promise<boolean>

  /**
   * Yields every block row that is on disk, in key order, each re-hashed; keys that are no CID are reported.
   *
   * @throws {StoreError} `HSTORE_STORE_DAMAGED` when the database can't be read on.
   */
  scan(): AsyncIterable<ScannedBlock>

  /** Yields the rows of `scan` in batches of at most 256: quicker over many. */
  scanBatches(): AsyncIterable<readonly ScannedBlock[]>
}
