import type { Bundle, BundleAnswer, BundleFile } from './bundle.ts'
import type { HandoffEnvelope } from './document.ts'
import { walkEnvironments, walkRecords } from './document.ts'
import { leavesRoot, normalizeSegments, parseLocator, splitPath } from './locator.ts'
import { readJsonFile } from './paper.ts'
import { listReportInputs } from './report-facts.ts'
import { isDeclaredReport } from './resolve.ts'

/** A file of a bundle that lies in a store. */
export interface StoredFile {
  /** Of the bytes, 64 digits of lower-case hex. */
  readonly sha256: string
  readonly sizeBytes: number
  /** Returns the bytes, checked against their digest, or undefined when they are not there. */
  readonly read: () => Promise<Uint8Array | undefined>
}

/** Returns the file with a digest, or undefined when the store does not hold it. */
export type FindStoredFile = (sha256: string) => Promise<StoredFile | undefined>

/**
 * Returns a bundle whose files are named by their path alone: there are no links and no directories to look at.
 *
 * @param files - By path relative to the bundle, with `/` between segments and without dots.
 */
export function makeVirtualBundle(files: ReadonlyMap<string, StoredFile>): Bundle {
  const answer = (segments: readonly string[]): BundleAnswer => {
    const normal = normalizeSegments(segments)
    const path = normal.join('/')
    const stored = path === '' || isBelowFile(normal, files) ? undefined : files.get(path)
    if (stored === undefined) return { kind: 'missing', reason: 'there is no such file' }
    const { sha256, sizeBytes } = stored
    return { kind: 'file', file: { key: `/${path}`, sha256, sizeBytes }, path, linked: false }
  }
  return {
    locate: (segments) =>
      Promise.resolve(
        leavesRoot(segments)
          ? { kind: 'escape', reason: 'the path leads out of the bundle' }
          : answer(segments),
      ),
    locateBeside: (file, input) => {
      const segments = besideSegments(file.key, input)
      return Promise.resolve(
        segments === undefined
          ? { kind: 'missing', reason: 'the path leads out of the bundle' }
          : answer(segments),
      )
    },
    read: async (file: BundleFile, maxBytes: number) => {
      if (file.sizeBytes > maxBytes) return undefined
      return await files.get(file.key.slice(1))?.read()
    },
  }
}

/**
 * Returns the bundle of a stored envelope: each declared file at the path where its locator leads, found by the digest
 * that the envelope, or a report of it, declares. Files that the store lacks are missing in the bundle.
 *
 * @param envelope - One that `checkEnvelope` has nothing to say about.
 */
export async function openStoredBundle(
  envelope: HandoffEnvelope,
  find: FindStoredFile,
): Promise<Bundle> {
  const files = new Map<string, StoredFile>()
  const add = async (segments: readonly string[], sha256: string): Promise<void> => {
    const path = normalizeSegments(segments).join('/')
    const stored = files.has(path) ? undefined : await find(sha256)
    if (stored !== undefined) files.set(path, stored)
  }
  for (const { locator: text, sha256 } of walkDeclared(envelope)) {
    const locator = parseLocator(text)
    if (locator.kind === 'local') await add(locator.segments, sha256)
  }
  const bundle = makeVirtualBundle(files)
  const read = new Set<string>()
  for (const placed of walkRecords(envelope)) {
    const locator = parseLocator(placed.record.artifact_path)
    const answer = locator.kind === 'local' ? await bundle.locate(locator.segments) : locator
    if (answer.kind !== 'file' || !isDeclaredReport(placed, answer.file)) continue
    const { key } = answer.file
    if (read.has(key)) continue
    read.add(key)
    const json = await readJsonFile(bundle, answer.file)
    const inputs = json.kind === 'object' ? listReportInputs(json.value) : []
    for (const { path, sha256 } of inputs) {
      const segments = besideSegments(key, path)
      if (segments !== undefined) await add(segments, sha256)
    }
  }
  return bundle
}

function* walkDeclared(
  envelope: HandoffEnvelope,
): Generator<{ readonly locator: string; readonly sha256: string }, void> {
  for (const { record } of walkRecords(envelope)) {
    yield { locator: record.artifact_path, sha256: record.sha256 }
  }
  yield* walkEnvironments(envelope)
}

/** Segments of a path beside the file at `key`, from the root of the bundle; undefined when they lead out of it. */
function besideSegments(key: string, input: string): string[] | undefined {
  const segments = [...splitPath(key).slice(0, -1), ...splitPath(input)]
  return input.startsWith('/') || leavesRoot(segments) ? undefined : segments
}

/** A file is no directory, though a store could hold both `a` and `a/b`. */
function isBelowFile(segments: readonly string[], files: ReadonlyMap<string, StoredFile>): boolean {
  let parent = ''
  for (const segment of segments.slice(0, -1)) {
    parent += parent === '' ? segment : `/${segment}`
    if (files.has(parent)) return true
  }
  return false
}
