import { readArtifact, sizeOfArtifact } from '../../store/artifacts.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOfDigest } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import type { HandoffArtifactDigest, HandoffEnvelope } from '../contracts/csag/document.ts'
import { walkEnvironments, walkRecords } from '../contracts/csag/document.ts'
import {
  leavesRoot,
  normalizeSegments,
  parseLocator,
  splitPath,
} from '../contracts/csag/locator.ts'
import type { StoredFile } from '../contracts/csag/virtual-bundle.ts'
import { HstoreError } from '../kernel/errors.ts'
import { parseObject } from '../durable-file.ts'

/** A file of an envelope's bundle, in the store. */
export interface BundledFile extends StoredFile {
  readonly cid: CidText
}

/** The files of an envelope by their path in the bundle, and the locators that lead elsewhere. */
export interface StoredFiles {
  readonly files: ReadonlyMap<string, BundledFile>
  readonly remote: readonly string[]
}

const maxReportBytes = 64 * 1024 * 1024
const digestText = /^[0-9a-f]{64}$/

/**
 * Returns where an envelope's files go in a bundle: its local records and lockfiles, and what its reports name as
 * inputs beside them. Only files in `available` are there: those that the entries of the node took in.
 *
 * @param envelope - One that `checkEnvelope` has nothing to say about.
 */
export async function storedFiles(
  db: Database,
  envelope: HandoffEnvelope,
  available: ReadonlySet<CidText>,
): Promise<StoredFiles> {
  const files = new Map<string, BundledFile>()
  const remote = new Set<string>()
  const add = async (segments: readonly string[], sha256: string): Promise<string> => {
    const path = normalizeSegments(segments).join('/')
    const file = files.has(path) ? undefined : await findFile(db, available, sha256)
    if (file !== undefined && path !== '') files.set(path, file)
    return path
  }
  const reports = new Set<string>()
  for (const { record } of walkRecords(envelope)) {
    const locator = parseLocator(record.artifact_path)
    if (locator.kind === 'remote') remote.add(record.artifact_path)
    if (locator.kind !== 'local') continue
    const path = await add(locator.segments, record.sha256)
    if (isReport(record)) reports.add(path)
  }
  for (const { locator: text, sha256 } of walkEnvironments(envelope)) {
    const locator = parseLocator(text)
    if (locator.kind === 'remote') remote.add(text)
    if (locator.kind === 'local') await add(locator.segments, sha256)
  }
  for (const path of reports) {
    for (const { beside, sha256 } of await inputsOf(files.get(path))) {
      const segments = [...splitPath(path).slice(0, -1), ...splitPath(beside)]
      if (!beside.startsWith('/') && !leavesRoot(segments)) await add(segments, sha256)
    }
  }
  return { files, remote: [...remote] }
}

function isReport({ artifact_role: role }: HandoffArtifactDigest): boolean {
  return role === 'validation_report' || role === 'quality_report'
}

async function findFile(
  db: Database,
  available: ReadonlySet<CidText>,
  sha256: string,
): Promise<BundledFile | undefined> {
  if (!digestText.test(sha256)) return undefined
  const cid = cidTextOfDigest(Buffer.from(sha256, 'hex'), 'raw')
  const sizeBytes = available.has(cid) ? await sizeOr(db, cid) : undefined
  if (sizeBytes === undefined) return undefined
  return { cid, sha256, sizeBytes, read: () => readWhole(db, cid) }
}

/** What a report names as its inputs; nothing where it can't be read as one. */
async function inputsOf(
  report: BundledFile | undefined,
): Promise<readonly { readonly beside: string; readonly sha256: string }[]> {
  if (report === undefined || report.sizeBytes > maxReportBytes) return []
  const bytes = await report.read()
  const { inputs } = parseObject(bytes === undefined ? '' : new TextDecoder().decode(bytes))
  if (typeof inputs !== 'object' || inputs === null) return []
  return Object.values(inputs).flatMap((input: { path?: unknown; sha256?: unknown } | null) => {
    const { path: beside, sha256 } = input ?? {}
    return typeof beside === 'string' && typeof sha256 === 'string' ? [{ beside, sha256 }] : []
  })
}

/** What is damaged is not there for the rules; the walk over the blocks names it. */
async function sizeOr(db: Database, cid: CidText): Promise<number | undefined> {
  return unlessDamaged(() => sizeOfArtifact(db, cid))
}

async function readWhole(db: Database, cid: CidText): Promise<Uint8Array | undefined> {
  return unlessDamaged(async () => {
    const chunks: Uint8Array[] = []
    for await (const chunk of readArtifact(db, cid)) chunks.push(chunk)
    return Buffer.concat(chunks)
  })
}

async function unlessDamaged<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof HstoreError) return undefined
    throw error
  }
}
