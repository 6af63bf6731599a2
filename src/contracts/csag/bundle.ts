/** A regular file of a bundle. */
export interface BundleFile {
  /**
   * Says which file it is: equal for all paths that lead to it, sortable by code point as upstream sorts them. The
   * link-resolved absolute path in a directory, `/` and the path in a store.
   */
  readonly key: string
  readonly sizeBytes: number
  /** Of the bytes, 64 digits of lower-case hex. */
  readonly sha256: string
}

/** What is at a path of a bundle. */
export type BundleAnswer =
  | {
      readonly kind: 'file'
      readonly file: BundleFile
      /** The path in the bundle as it was asked for, with `/` between segments and without dots. */
      readonly path: string
      /** Whether a symbolic link was followed on the way. */
      readonly linked: boolean
    }
  | { readonly kind: 'escape' | 'missing'; readonly reason: string }

/** The files around an envelope. One of these serves one judgement: what it has seen it may answer again. */
export interface Bundle {
  /**
   * Returns what is at a path below the bundle: `missing` where there is no regular file that can be read, `escape`
   * where links or `..` lead out. Components that do not exist are taken as they are spelled.
   *
   * @param segments - Without empty and single-dot ones; none for the bundle itself.
   */
  locate(segments: readonly string[]): Promise<BundleAnswer>
  /**
   * Returns what is at a path beside `file`: where the inputs of a report are. An absolute path, one that leads out
   * of the bundle, and one over a directory that does not exist are `missing`.
   *
   * @param path - As it stands in the report: no escapes, no scheme.
   */
  locateBeside(file: BundleFile, path: string): Promise<BundleAnswer>
  /**
   * Returns the bytes of `file`, or undefined when they are more than `maxBytes` or no longer those of
   * {@link BundleFile.sha256}.
   */
  read(file: BundleFile, maxBytes: number): Promise<Uint8Array | undefined>
}
