import { readArtifact, sizeOfArtifact } from '../../store/artifacts.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOfDigest } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import type { HandoffEnvelope } from '../contracts/csag/document.ts'
import { walkRecords } from '../contracts/csag/document.ts'
import {
  leavesRoot,
  normalizeSegments,
  parseLocator,
  splitPath,
} from '../contracts/csag/locator.ts'
import type { StoredFile } from '../contracts/csag/virtual-bundle.ts'
import { parseObject } from '../store-folder.ts'

/** A file of an envelope's bundle, in the store. */
export interface BundledFile extends StoredFile {
  readonly cid: CidText
}

/** The files of an envelope by their path in the bundle, and the locators that lead elsewhere. */
export interface StoredFiles {
  readonly files: ReadonlyMap<string, BundledFile>
  readonly remote: readonly string[]
}

const reportRoles: readonly string[] = ['validation_report', 'quality_report']
const maxReportBytes = 64 * 1024 * 1024
const digest = /^[0-9a-f]{64}$/

/**
 * Returns where an envelope's files go in a bundle: its local records and lockfiles, and what its reports name as
 * inputs beside them. Only files in `available` are there: those that the entry's own list took in.
 */
export async function storedFiles(
  db: Database,
  envelope: HandoffEnvelope,
  available: ReadonlySet<CidText>,
): Promise<StoredFiles> {
  const files = new Map<string, BundledFile>()
  const remote = new Set<string>()
  const reports = new Set<string>()
  for (const { locator, sha256, role } of claims(envelope)) {
    const parsed = parseLocator(locator)
    if (parsed.kind === 'remote') remote.add(locator)
    if (parsed.kind !== 'local') continue
    const path = normalizeSegments(parsed.segments).join('/')
    await addFile(db, files, available, path, sha256)
    if (reportRoles.includes(role)) reports.add(path)
  }
  for (const path of reports) await addInputs(db, files, available, path)
  return { files, remote: [...remote] }
}

interface Claim {
  readonly locator: string
  readonly sha256: string
  readonly role: string
}

function* claims(envelope: HandoffEnvelope): Generator<Claim> {
  for (const { record } of walkRecords(envelope)) {
    yield { locator: record.artifact_path, sha256: record.sha256, role: record.artifact_role }
  }
  for (const { environment } of envelope.executions ?? []) {
    const at = environment.lastIndexOf('#sha256=')
    yield { locator: environment.slice(0, at), sha256: environment.slice(at + 8), role: 'lockfile' }
  }
}

async function addFile(
  db: Database,
  files: Map<string, BundledFile>,
  available: ReadonlySet<CidText>,
  path: string,
  sha256: string,
): Promise<void> {
  if (files.has(path) || path === '' || !digest.test(sha256)) return
  const cid = cidTextOfDigest(Buffer.from(sha256, 'hex'), 'raw')
  if (!available.has(cid)) return
  const sizeBytes = await sizeOfArtifact(db, cid)
  if (sizeBytes === undefined) return
  files.set(path, { cid, sha256, sizeBytes, read: () => readWhole(db, cid) })
}

async function addInputs(
  db: Database,
  files: Map<string, BundledFile>,
  available: ReadonlySet<CidText>,
  path: string,
): Promise<void> {
  const report = files.get(path)
  if (report === undefined || report.sizeBytes > maxReportBytes) return
  const bytes = await report.read()
  const { inputs } = parseObject(bytes === undefined ? '' : new TextDecoder().decode(bytes))
  if (typeof inputs !== 'object' || inputs === null) return
  for (const input of Object.values(inputs) as Record<string, unknown>[]) {
    const { path: beside, sha256 } = input ?? {}
    if (typeof beside !== 'string' || typeof sha256 !== 'string' || beside.startsWith('/')) continue
    const segments = [...splitPath(path).slice(0, -1), ...splitPath(beside)]
    if (leavesRoot(segments) || beside.includes('\u0000')) continue
    await addFile(db, files, available, normalizeSegments(segments).join('/'), sha256)
  }
}

/** Returns an artifact's bytes, or undefined when they are missing or not its own. */
async function readWhole(db: Database, cid: CidText): Promise<Uint8Array | undefined> {
  try {
    const chunks: Uint8Array[] = []
    for await (const chunk of readArtifact(db, cid)) chunks.push(chunk)
    return Buffer.concat(chunks)
  } catch {
    return undefined
  }
}
