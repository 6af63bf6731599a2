import { listArtifactFiles } from '../store/artifacts.ts'
import { decodeForm } from '../store/canonical.ts'
import type { CidText } from '../store/cid-text.ts'
import { codecOf } from '../store/cid-text.ts'
import type { Database } from '../store/database.ts'
import { sizeOfDatabase } from '../store/database-files.ts'
import { listTemporaryFiles } from '../store/leftovers.ts'
import { entryOfForm, looksLikeEntry } from './entry/decode.ts'
import { HstoreError } from './kernel/errors.ts'

/** How many there are of something, and how many bytes they take. */
export interface Amount {
  readonly count: number
  readonly sizeBytes: number
}

/** What a store holds, in numbers. */
export interface StatsReport {
  /** Entries by kind, in the order of the kinds' names. */
  readonly kinds: { readonly [kind: string]: number }
  readonly entries: Amount
  readonly streams: number
  readonly signers: number
  /** Bodies and lists of artifacts. */
  readonly bodies: Amount
  /** Files as given and artifacts of at most 1 MiB: they lie in the database. */
  readonly smallFiles: Amount
  /** Larger artifacts: each is a file. */
  readonly largeFiles: Amount
  /** What puts left that were killed; see `gc`. */
  readonly temporary: Amount
  /** What the files of the database take on disk, in bytes. */
  readonly databaseBytes: number
}

/** Counts; `add` takes one more into an amount. */
class Tally {
  count = 0
  sizeBytes = 0

  add(sizeBytes: number): void {
    this.count += 1
    this.sizeBytes += sizeBytes
  }

  get amount(): Amount {
    return { count: this.count, sizeBytes: this.sizeBytes }
  }
}

/** Returns what a store holds, in numbers. Blocks that are damaged are not counted: `fsck` names them. */
export async function statsOf(db: Database): Promise<StatsReport> {
  await db.settled()
  const blocks = new BlockTally()
  for await (const batch of db.scanBatches()) {
    for (const { cid, bytes, sound } of batch)
      if (cid !== undefined && sound) blocks.add(cid, bytes)
  }
  const largeFiles = new Tally()
  for await (const { sizeBytes } of listArtifactFiles(db.directory)) largeFiles.add(sizeBytes)
  const temporary = new Tally()
  for await (const { sizeBytes } of listTemporaryFiles(db.directory)) temporary.add(sizeBytes)
  return {
    ...blocks.report(),
    largeFiles: largeFiles.amount,
    temporary: temporary.amount,
    databaseBytes: await sizeOfDatabase(db.directory),
  }
}

/** Takes blocks in, one by one. */
class BlockTally {
  readonly #kinds = new Map<string, number>()
  readonly #streams = new Set<string>()
  readonly #signers = new Set<string>()
  readonly #entries = new Tally()
  readonly #bodies = new Tally()
  readonly #smallFiles = new Tally()

  add(cid: CidText, bytes: Uint8Array): void {
    if (codecOf(cid) === 'raw') this.#smallFiles.add(bytes.length)
    else this.#addDagJson(cid, bytes)
  }

  report(): Omit<StatsReport, 'databaseBytes' | 'largeFiles' | 'temporary'> {
    const kinds = [...this.#kinds].sort(([a], [b]) => (a < b ? -1 : 1))
    return {
      kinds: Object.fromEntries(kinds),
      entries: this.#entries.amount,
      streams: this.#streams.size,
      signers: this.#signers.size,
      bodies: this.#bodies.amount,
      smallFiles: this.#smallFiles.amount,
    }
  }

  #addDagJson(cid: CidText, bytes: Uint8Array): void {
    try {
      const { form } = decodeForm(bytes)
      if (!looksLikeEntry(form)) return this.#bodies.add(bytes.length)
      const { kind, stream, signer } = entryOfForm(cid, bytes, form)
      this.#entries.add(bytes.length)
      this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1)
      this.#streams.add(stream)
      this.#signers.add(signer)
    } catch (error) {
      if (!(error instanceof HstoreError)) throw error
    }
  }
}
