import { readArtifactRange } from '../../store/artifact-range.ts'
import { sizeOfArtifact } from '../../store/artifacts.ts'
import type { Block } from '../../store/block.ts'
import { HashedBlock } from '../../store/block.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { smallArtifactLimitBytes } from '../../store/stage-artifact.ts'
import { decodeEntry } from '../entry/decode.ts'
import type { Entry } from '../entry/entry.ts'
import { HstoreError } from '../kernel/errors.ts'
import { partsOf } from './closure.ts'
import { isThere } from './judge.ts'
import { answerBytes } from './protocol.ts'

/** Size of one block of a large artifact on the wire, in bytes. */
export const pieceSize: number = 1024 * 1024

/** Gathers the blocks of an answer until it is full. */
export class Answer {
  readonly blocks: Block[] = []
  readonly #seen = new Set<CidText>()
  readonly #limitBytes: number
  #sizeBytes = 0

  constructor(limitBytes: number = answerBytes) {
    this.#limitBytes = limitBytes
  }

  get isFull(): boolean {
    return this.#sizeBytes >= this.#limitBytes
  }

  has(cid: CidText): boolean {
    return this.#seen.has(cid)
  }

  add(cid: CidText, bytes: Uint8Array): void {
    if (this.#seen.has(cid)) return
    this.#seen.add(cid)
    this.blocks.push({ cid, bytes })
    this.#sizeBytes += bytes.length
  }
}

/** Returns an entry of a stream; undefined for what is not there, is no entry, or stands in another stream. */
export async function findInStream(
  db: Database,
  stream: string,
  cid: CidText,
): Promise<{ readonly entry: Entry; readonly bytes: Uint8Array } | undefined> {
  const [read] = await db.getMany([cid])
  if (read?.state !== 'ok') return undefined
  try {
    const entry = decodeEntry(cid, read.bytes)
    const isOfStream = entry.stream === stream && isThere({ db }, entry)
    return isOfStream ? { entry, bytes: read.bytes } : undefined
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}

/**
 * Adds an entry with its body and file as given. What another entry may have brought along is left to be asked for: a body
 * that is stated twice, and lists and artifacts, which a history names again and again.
 */
export async function addEntry(
  answer: Answer,
  db: Database,
  stream: string,
  cid: CidText,
): Promise<void> {
  const found = await findInStream(db, stream, cid)
  if (found === undefined) return
  answer.add(cid, found.bytes)
  const { body, source } = found.entry
  if (db.readRow('bodies', body)?.length !== 1) return
  const parts = (source === undefined ? [body] : [body, source]).filter((part) => !answer.has(part))
  for (const [i, read] of (await db.getMany(parts)).entries())
    if (read.state === 'ok') answer.add(parts[i]!, read.bytes)
}

/** What entries of streams need: nothing else of a store goes out through a stream. Each entry is read once. */
export class Needs {
  readonly #db: Database
  readonly #found = new Map<string, ReadonlySet<CidText>>()
  /** Links read so far. */
  reads = 0

  constructor(db: Database) {
    this.#db = db
  }

  /** Returns whether an entry of a stream needs a block. */
  async has(stream: string, entry: CidText, cid: CidText): Promise<boolean> {
    const key = `${entry} ${stream}`
    let needed = this.#found.get(key)
    if (needed === undefined) {
      needed = await this.#read(stream, entry)
      this.#found.set(key, needed)
      this.reads += 1 + needed.size
    }
    return needed.has(cid)
  }

  async #read(stream: string, cid: CidText): Promise<ReadonlySet<CidText>> {
    const found = await findInStream(this.#db, stream, cid)
    if (found === undefined) return new Set()
    try {
      const { artifacts, blocks } = await partsOf({ db: this.#db }, found.entry)
      return new Set([...blocks, ...artifacts])
    } catch (error) {
      if (error instanceof HstoreError) return new Set()
      throw error
    }
  }
}

/** Adds a block that is small, or returns the size of a large artifact; does nothing for one that is lost. */
export async function addPart(
  answer: Answer,
  db: Database,
  cid: CidText,
): Promise<number | undefined> {
  if (answer.has(cid)) return undefined
  const [read] = await db.getMany([cid])
  if (read?.state === 'ok') {
    answer.add(cid, read.bytes)
    return undefined
  }
  const size = cid.startsWith('bafk') ? await sizeOfArtifact(db, cid).catch(() => undefined) : 0
  if (size !== undefined && size > smallArtifactLimitBytes) return size
  if (size !== undefined && size > 0)
    answer.add(cid, await readArtifactRange(db.directory, cid, 0, size))
  return undefined
}

/** Returns the bytes of a large artifact from an offset on, as blocks in their order, each once. */
export async function piecesFrom(
  { directory }: Pick<Database, 'directory'>,
  cid: CidText,
  at: number,
  most: number = answerBytes,
): Promise<Block[]> {
  const bytes = await readArtifactRange(directory, cid, at, most)
  // what is whole of a message that is cut counts
  const size = Math.min(pieceSize, Math.ceil(most / 4))
  const pieces: Block[] = []
  for (let from = 0; from < bytes.length; from += size) {
    const piece = HashedBlock.of(bytes.subarray(from, from + size), 'raw')
    // a file may repeat itself: the rest is asked for again
    if (pieces.some(({ cid: other }) => other === piece.cid)) break
    pieces.push(piece)
  }
  return pieces
}
