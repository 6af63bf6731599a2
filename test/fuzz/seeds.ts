import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/** Where seeds come from: the fixtures of the repository, and vectors of others where they are. */
export class SeedFolder {
  readonly #root: string
  readonly #vectors: string | undefined

  /** @param root - The repository. */
  constructor(root: string, vectors: string | undefined) {
    this.#root = root
    this.#vectors = vectors
  }

  /** Returns the bytes of a fixture. */
  bytes(...name: readonly string[]): Uint8Array {
    return new Uint8Array(readFileSync(path.join(this.#root, 'fixtures', ...name)))
  }

  /** Returns the value of a fixture that is JSON. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the file
  json<T>(...name: readonly string[]): T {
    return JSON.parse(Buffer.from(this.bytes(...name)).toString('utf8')) as T
  }

  /** Returns the names in a folder of fixtures, sorted. */
  names(...folder: readonly string[]): string[] {
    return readdirSync(path.join(this.#root, 'fixtures', ...folder)).sort()
  }

  /** Returns the files of a set of vectors of at most 16 KiB each, none where there is no such set. */
  vectors(set: string, fits: RegExp): Uint8Array[] {
    const folder = this.#vectors === undefined ? '' : path.join(this.#vectors, set)
    if (!existsSync(folder)) return []
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((item) => item.isFile() && fits.test(item.name))
      .map((item) => path.join(item.parentPath, item.name))
      .sort()
      .map((file) => new Uint8Array(readFileSync(file)))
      .filter((bytes) => bytes.length <= 16 * 1024)
  }
}
