import { opendir, realpath } from 'node:fs/promises'
import path from 'node:path'
import { HandoffError } from '../../errors.ts'
import type { Bundle, BundleAnswer, BundleFile } from './bundle.ts'
import { FileWalk } from './file-walk.ts'
import { leavesRoot, normalizeSegments, splitPath } from './locator.ts'
import { hashRegularFile, readRegularFile } from './regular-file.ts'

/**
 * Returns the bundle in `directory`. Each file is hashed once, with flat memory.
 *
 * @throws {HandoffError} `HSTORE_INPUT_UNREADABLE` when there is no such directory.
 */
export async function openDirectoryBundle(directory: string): Promise<Bundle> {
  try {
    const root = await realpath(directory)
    await (await opendir(root)).close()
    return new DirectoryBundle(root)
  } catch (cause) {
    throw new HandoffError(
      'HSTORE_INPUT_UNREADABLE',
      `${directory}: can't be opened as the directory of a bundle`,
      { cause },
    )
  }
}

class DirectoryBundle implements Bundle {
  private readonly root: string
  private readonly walk = new FileWalk()
  private readonly files = new Map<string, Promise<BundleFile | undefined>>()
  private readonly places = new Map<string, Promise<BundleAnswer>>()

  constructor(root: string) {
    this.root = root
  }

  locate(segments: readonly string[]): Promise<BundleAnswer> {
    return this.once(`in ${segments.join('/')}`, () => this.lookUp(segments))
  }

  /** One place can be spelled in many ways, and links make it dear to find. */
  private once(key: string, look: () => Promise<BundleAnswer>): Promise<BundleAnswer> {
    const known = this.places.get(key) ?? look()
    this.places.set(key, known)
    return known
  }

  private async lookUp(segments: readonly string[]): Promise<BundleAnswer> {
    if (leavesRoot(segments)) return { kind: 'escape', reason: 'the path leads out of the bundle' }
    const walked = await this.walk.follow(this.root, segments)
    if (walked === undefined) return missing('links lead in a circle')
    if (!this.holds(walked.path))
      return { kind: 'escape', reason: 'a link leads out of the bundle' }
    return this.answer(walked.path, segments, walked.linked)
  }

  locateBeside(file: BundleFile, input: string): Promise<BundleAnswer> {
    const place = `beside ${path.posix.dirname(file.key)} ${input.startsWith('/') ? '/' : ''}${splitPath(input).join('/')}`
    return this.once(place, () => this.lookUpBeside(file, input))
  }

  private async lookUpBeside(file: BundleFile, input: string): Promise<BundleAnswer> {
    if (input.startsWith('/')) return missing('the path is absolute')
    const directory = path.posix.dirname(file.key)
    const segments = splitPath(input)
    const whole = [...splitPath(path.posix.relative(this.root, directory)), ...segments]
    if (leavesRoot(whole)) return missing('the path leads out of the bundle')
    const walked = await this.walk.follow(directory, segments)
    if (walked === undefined || !walked.solid || !this.holds(walked.path)) {
      return missing('nothing is there, or it is outside the bundle')
    }
    return this.answer(walked.path, whole, walked.linked)
  }

  async read(file: BundleFile, maxBytes: number): Promise<Uint8Array | undefined> {
    return await readRegularFile(file, maxBytes)
  }

  private holds(absolute: string): boolean {
    return absolute === this.root || absolute.startsWith(this.root === '/' ? '/' : `${this.root}/`)
  }

  private async answer(
    absolute: string,
    segments: readonly string[],
    linked: boolean,
  ): Promise<BundleAnswer> {
    let pending = this.files.get(absolute)
    if (pending === undefined) {
      pending = hashRegularFile(absolute)
      this.files.set(absolute, pending)
    }
    const file = await pending
    if (file === undefined) return missing('there is no regular file')
    return { kind: 'file', file, path: normalizeSegments(segments).join('/'), linked }
  }
}

function missing(reason: string): BundleAnswer {
  return { kind: 'missing', reason }
}
