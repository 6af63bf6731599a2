import { readArtifact, sizeOfArtifact } from '../../store/artifacts.ts'
import type { CarTextBlock } from '../../store/car-read.ts'
import { writeCarBlocks } from '../../store/car-write.ts'
import { CidSet } from '../../store/cid-set.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { StoreError } from '../../store/errors.ts'
import { smallArtifactLimitBytes } from '../../store/stage-artifact.ts'
import type { Context } from '../context.ts'
import { writeNewFile } from '../durable-file.ts'
import { resolveStarts } from '../graph/ref.ts'
import { rosterEntries } from '../trust/load.ts'
import { partsOf } from './closure.ts'
import type { LargeArtifact } from './manifest.ts'
import { manifestBlock, pieceBytes } from './manifest.ts'
import { Outgoing } from './outgoing.ts'

/** What a CAR holds. */
export interface ExportReport {
  /** Its manifest: equal for equal entries. */
  readonly root: string
  readonly entries: number
  /** Entries that were named and are left out: they are rejected or of an unknown signer, or follow what is. */
  readonly left: readonly CidText[]
}

/** Where a CAR goes: a new file, by its path, or what takes the bytes as they come. */
export type CarSink = string | ((chunk: Uint8Array) => void | Promise<void>)

/**
 * Writes a CAR of the entries that REFs name with all that they rest on, or of the whole store; the rosters always go
 * along. Equal entries give equal bytes, in whichever store they lie.
 *
 * @throws {StoreError} `HSTORE_BLOCK_NOT_FOUND`, `HSTORE_BLOCK_CORRUPT` when the store has lost what would go out.
 * @throws {HandoffError} `HSTORE_OUTPUT_EXISTS`, `HSTORE_OUTPUT_UNWRITABLE`, `HSTORE_INPUT_TOO_LARGE`.
 * @see docs/format.md, «CAR files»
 */
export async function exportCar(
  context: Context,
  refs: readonly string[],
  out: CarSink,
): Promise<ExportReport> {
  const starts: CidText[] = []
  for (const ref of refs) starts.push(...(await resolveStarts(context, ref)))
  const entries =
    refs.length === 0
      ? await Outgoing.all(context)
      : await Outgoing.behind(context, [...starts, ...(await rosterEntries(context.db))])
  const blocks = new CidSet()
  const artifacts = new CidSet()
  for (const entry of entries) {
    const parts = await partsOf(context, entry)
    for (const cid of [entry.cid, ...parts.blocks]) blocks.add(cid)
    for (const cid of parts.artifacts) artifacts.add(cid)
  }
  const large: LargeArtifact[] = []
  for (const artifact of artifacts.sorted()) {
    const pieces = await piecesOf(context, artifact)
    if (pieces === undefined) blocks.add(artifact)
    else large.push({ artifact, pieces })
  }
  const root = manifestBlock({
    blocks: blocks.size,
    genesis: context.trust.genesis,
    large,
    tips: entries.tips(),
  })
  const sections = sectionsOf(context, root, large, blocks.sorted())
  const chunks = writeCarBlocks([root.cid], sections)
  if (typeof out === 'string') await writeNewFile(out, chunks)
  else for await (const chunk of chunks) await out(chunk)
  const left = [...new Set(starts)].filter((cid) => !entries.has(cid)).sort()
  return { root: root.cid, entries: entries.size, left }
}

/** The CIDs of a large artifact's pieces; undefined for a small one. */
async function piecesOf(
  { db }: Context,
  artifact: CidText,
): Promise<readonly CidText[] | undefined> {
  const size = await sizeOfArtifact(db, artifact)
  if (size === undefined) {
    const message = `${db.directory} holds no artifact ${artifact}`
    throw new StoreError('HSTORE_BLOCK_NOT_FOUND', message, { details: { cid: artifact } })
  }
  if (size <= smallArtifactLimitBytes) return undefined
  const pieces: CidText[] = []
  for await (const { cid } of readPieces(db, artifact)) pieces.push(cid)
  return pieces
}

async function* readPieces(db: Context['db'], artifact: CidText): AsyncGenerator<CarTextBlock> {
  let parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of readArtifact(db, artifact)) {
    let rest = chunk
    while (size + rest.length >= pieceBytes) {
      const piece = Buffer.concat([...parts, rest.subarray(0, pieceBytes - size)])
      yield pieceOf(piece)
      rest = rest.subarray(pieceBytes - size)
      parts = []
      size = 0
    }
    if (rest.length > 0) parts.push(rest)
    size += rest.length
  }
  if (size > 0) yield pieceOf(Buffer.concat(parts))
}

function pieceOf(bytes: Uint8Array): CarTextBlock {
  return { cid: cidTextOf(bytes, 'raw'), bytes }
}

async function* sectionsOf(
  { db }: Context,
  root: CarTextBlock,
  large: readonly LargeArtifact[],
  blocks: Iterable<CidText>,
): AsyncGenerator<CarTextBlock> {
  yield root
  for (const cid of blocks) yield { cid, bytes: await smallOf(db, cid) }
  for (const { artifact } of large) yield* readPieces(db, artifact)
}

/** A small artifact may lie in a file of its own all the same: where a damaged row was healed. */
async function smallOf(db: Context['db'], cid: CidText): Promise<Uint8Array> {
  const bytes = await db.find(cid)
  if (bytes !== undefined) return bytes
  const chunks: Uint8Array[] = []
  for await (const chunk of readArtifact(db, cid)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
