import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { readArtifact } from '../../store/artifacts.ts'
import type { CidText } from '../../store/cid-text.ts'
import { findArtifacts } from '../graph/body.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { HandoffEnvelope } from '../contracts/csag/document.ts'
import type { Context } from '../context.ts'
import type { Entry } from '../entry/entry.ts'
import { HandoffError } from '../errors.ts'
import { whyUnwritten } from '../kernel/errno.ts'
import { HstoreError } from '../kernel/errors.ts'
import { makeFolder } from '../kernel/files.ts'
import { forgetTemporary, noteTemporary } from '../kernel/temporaries.ts'
import { readRow } from '../graph/index-row.ts'
import { readEnvelope } from './contract.ts'
import { storedFiles } from './stored-files.ts'

/** A bundle on disk. */
export interface LaidOut {
  /** The folder, absolute. */
  readonly folder: string
  /** The envelope's file in it. */
  readonly envelope: string
  /** The artifacts laid beside it, relative to the folder. */
  readonly files: readonly string[]
}

/**
 * Lays an envelope and its files out as a bundle: the file as given as `handoff.json` (`handoff-1.json` … where an
 * artifact has that path), every artifact at its place. Each byte is hashed on the way; nothing is written outside
 * `folder`, over a file that is there, or into a `.git` or `.hstore`.
 *
 * @param folder - Absent or empty.
 * @throws {HandoffError} `HSTORE_REF_NOT_FOUND` when the entry is no envelope; `HSTORE_OUTPUT_EXISTS` when the folder
 * holds something; `HSTORE_OUTPUT_UNWRITABLE` when a path can't be written here.
 * @throws {StoreError} `HSTORE_BLOCK_NOT_FOUND`, `HSTORE_BLOCK_CORRUPT` for a damaged block or artifact.
 */
export async function layOut(context: Context, entry: Entry, folder: string): Promise<LaidOut> {
  if (entry.kind !== 'envelope') {
    throw new HandoffError(
      'HSTORE_REF_NOT_FOUND',
      `${entry.cid} is a ${entry.kind}: only envelopes have a bundle`,
    )
  }
  const document = await readEnvelope(context, entry)
  if (document === undefined) await context.db.get(entry.body) // throws what is wrong with it
  const { files } = await storedFiles(
    context.db,
    document as HandoffEnvelope,
    await takenInByNode(context, entry),
  )
  const given = await givenBytes(context, entry)
  const name = freeName(files)
  for (const file of files.keys()) assertSafe(file)
  await writing(folder, async () => {
    await assertFree(folder)
    await inPlaceOf(folder, async (fresh) => {
      for (const [file, { cid }] of files) await writeArtifact(context, cid, path.join(fresh, file))
      await writeFile(path.join(fresh, name), given, { flag: 'wx' })
    })
  })
  return { folder: path.resolve(folder), envelope: name, files: [...files.keys()] }
}

async function assertFree(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  if (names.length === 0) return
  throw new HandoffError('HSTORE_OUTPUT_EXISTS', `${folder} is not empty: name a new folder`)
}

/** Fills a folder beside `folder` and puts it in its place when it is whole: nothing is left of one that is not. */
async function inPlaceOf(folder: string, fill: (fresh: string) => Promise<void>): Promise<void> {
  const target = path.resolve(folder)
  await makeFolder(path.dirname(target))
  const fresh = `${target}.${randomUUID()}`
  noteTemporary(fresh)
  try {
    await mkdir(fresh, { mode: 0o700 })
    await fill(fresh)
    await chmod(fresh, 0o755)
    await rename(fresh, target) // over an empty folder, or where none is
  } catch (error) {
    await rm(fresh, { recursive: true, force: true })
    throw error
  } finally {
    forgetTemporary(fresh)
  }
}

/** Returns the file as given: the body's own bytes where they are the same. */
export async function givenBytes(context: Context, entry: Entry): Promise<Uint8Array> {
  return context.db.get(entry.source ?? entry.body)
}

/** Returns the artifacts that the entries of a node took in, as the store's indexes know them. */
export async function takenInByNode(
  context: Context,
  { body, author }: Entry,
): Promise<ReadonlySet<CidText>> {
  const all = new Set<CidText>()
  for (const entry of await readRow(context, { index: 'bodies', body })) {
    if (entry.author !== author || entry.artifacts === undefined) continue
    const list = findArtifacts(decodeForm(await context.db.get(entry.artifacts)).form) ?? []
    for (const artifact of list) all.add(artifact)
  }
  return all
}

async function writeArtifact(context: Context, cid: CidText, file: string): Promise<void> {
  await makeFolder(path.dirname(file))
  await pipeline(
    Readable.from(readArtifact(context.db, cid)),
    createWriteStream(file, { flags: 'wx' }),
  )
}

async function writing(folder: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (cause) {
    if (cause instanceof HstoreError) throw cause
    throw new HandoffError(
      'HSTORE_OUTPUT_UNWRITABLE',
      `${folder} can't be written: ${whyUnwritten(cause)}`,
      { cause },
    )
  }
}

function freeName(files: ReadonlyMap<string, unknown>): string {
  const taken = new Set([...files.keys()].map((file) => file.split('/')[0]!.toLowerCase()))
  for (let n = 0; ; n++) {
    const name = n === 0 ? 'handoff.json' : `handoff-${n}.json`
    if (!taken.has(name)) return name
  }
}

const windowsName = /[<>:"\\|?*]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i

/** The path was normalised before; what is left are names that mean something to a tool or to the system. */
function assertSafe(file: string): void {
  const segments = file.split('/')
  const unsafe = segments.find(
    (segment) =>
      segment === '' ||
      segment === '.' ||
      segment === '..' ||
      /^\.(git|hstore)$/i.test(segment) ||
      (process.platform === 'win32' && windowsName.test(segment)),
  )
  if (unsafe === undefined) return
  throw new HandoffError(
    'HSTORE_OUTPUT_UNWRITABLE',
    `${JSON.stringify(file)} is no path that is safe to lay out here`,
  )
}
