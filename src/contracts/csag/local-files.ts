import type { HandoffEnvelope } from './document.ts'
import { walkEnvironments } from './document.ts'
import { placedFinding, quote } from './finding.ts'
import type { CsagFinding, Segment } from './finding.ts'
import type { FreshInput } from './report-facts.ts'
import { isVerified } from './resolve.ts'
import type { ResolvedHandoff } from './resolve.ts'

/** What a local file is to its envelope. */
export type LocalFileRole = 'artifact' | 'lockfile' | 'report-input'

/** A file of the bundle whose bytes are those that the envelope, or a report of it, declares. */
export interface LocalFile {
  /** In the bundle, with `/` between segments and without dots: where the locator leads when there are no links. */
  readonly path: string
  /** The file itself: the link-resolved absolute path in a directory. */
  readonly key: string
  readonly sha256: string
  readonly sizeBytes: number
  readonly role: LocalFileRole
}

/**
 * Returns every distinct local file that an envelope needs to be judged again elsewhere: verified records, verified
 * lockfiles, fresh inputs of verified reports, in this order. One file at two paths is there twice.
 */
export function listLocalFiles(envelope: HandoffEnvelope, resolved: ResolvedHandoff): LocalFile[] {
  if (![...resolved.locators.values()].some(({ kind }) => kind === 'file')) return []
  const files = new Map<string, LocalFile>()
  const add = (answer: FreshInput, role: LocalFileRole): void => {
    const { path, file } = answer
    const name = `${path}\0${file.key}`
    if (!files.has(name)) files.set(name, { path, ...file, role })
  }
  for (const { record } of resolved.records) {
    const answer = resolved.locators.get(record.artifact_path)
    if (answer?.kind === 'file' && isVerified(record, answer.file)) add(answer, 'artifact')
  }
  for (const { locator, sha256 } of walkEnvironments(envelope)) {
    const answer = resolved.locators.get(locator)
    if (answer?.kind === 'file' && answer.file.sha256 === sha256) add(answer, 'lockfile')
  }
  for (const input of freshInputs(resolved)) add(input, 'report-input')
  return [...files.values()]
}

function freshInputs(resolved: ResolvedHandoff): FreshInput[] {
  return [...resolved.reports.values()].flatMap((facts) =>
    facts.kind === 'report' ? facts.inputs : [],
  )
}

/** Schemes that name things without a path, and so are remote on purpose. */
const NAME_SCHEMES = /^(?:ark|arxiv|cid|did|doi|hdl|info|ipfs|ipns|isbn|magnet|pmid|tag|urn):/i

/** Returns advisories on locators: HS4101 for a remote one that looks like a local path, HS4102 for one over links. */
export function adviseOnLocators(
  envelope: HandoffEnvelope,
  resolved: ResolvedHandoff,
): CsagFinding[] {
  const advisories: CsagFinding[] = []
  const told = new Set<string>()
  const advise = (locator: string, record: readonly Segment[], key?: string): void => {
    if (told.has(locator)) return
    told.add(locator)
    const answer = resolved.locators.get(locator)
    const isOdd = answer?.kind === 'remote' ? looksLocal(locator) : answer?.kind === 'file'
    if (!isOdd) return
    const place = key === undefined ? record : [...record, key]
    if (answer?.kind === 'remote') {
      const message = `${quote(locator)} counts as remote, so no file is checked`
      advisories.push(placedFinding('HS4101', place, message, 'info'))
    }
    if (answer?.kind === 'file' && answer.linked) {
      const message = `${quote(locator)} leads over a symbolic link; elsewhere it is laid out as a file`
      advisories.push(placedFinding('HS4102', place, message, 'info'))
    }
  }
  for (const { record, place } of resolved.records) {
    advise(record.artifact_path, place, 'artifact_path')
  }
  for (const { locator, place } of walkEnvironments(envelope)) advise(locator, place)
  return advisories
}

function looksLocal(locator: string): boolean {
  return !/^[A-Za-z][A-Za-z0-9+.-]+:\/\//.test(locator) && !NAME_SCHEMES.test(locator)
}
