import type { Bundle, BundleAnswer, BundleFile } from './bundle.ts'
import { leavesRoot, normalizeSegments, splitPath } from './locator.ts'

/** A file of a bundle that lies in a store. */
export interface StoredFile {
  /** Of the bytes, 64 digits of lower-case hex. */
  readonly sha256: string
  readonly sizeBytes: number
  /** Returns the bytes, checked against their digest, or undefined when they are not there. */
  readonly read: () => Promise<Uint8Array | undefined>
}

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
  const folders = foldersOf(files.keys())
  return {
    locate: (segments) =>
      Promise.resolve(
        leavesRoot(segments)
          ? { kind: 'escape', reason: 'the path leads out of the bundle' }
          : answer(segments),
      ),
    locateBeside: (file, input) => {
      const segments = besideSegments(file.key, input)
      const isSolid = segments !== undefined && goesOver(segments, folders)
      return Promise.resolve(
        !isSolid
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

/** Every folder that a file lies in, at any depth, the bundle itself included. */
function foldersOf(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set([''])
  for (const path of paths) {
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      folders.add(path.slice(0, at))
    }
  }
  return folders
}

/** Whether each folder on the way is there: the system looks at one even where `..` takes it back. */
function goesOver(segments: readonly string[], folders: ReadonlySet<string>): boolean {
  const at: string[] = []
  return segments.every((segment) => {
    if (!folders.has(at.join('/'))) return false
    if (segment === '..') at.pop()
    else at.push(segment)
    return true
  })
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
