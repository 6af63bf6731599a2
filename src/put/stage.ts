import { digestOf } from '../../store/cid-text.ts'
import type { StagedArtifact } from '../../store/stage-artifact.ts'
import { stageArtifact } from '../../store/stage-artifact.ts'
import type { LocalFile } from '../contracts/csag/local-files.ts'
import { HandoffError } from '../errors.ts'

/** A file of a bundle, read and hashed, with its path in the bundle. */
export interface StagedFile {
  readonly path: string
  readonly file: StagedArtifact
}

/**
 * Reads the files of a bundle, each of which has to hash as it was judged.
 *
 * @throws {HandoffError} `HSTORE_INPUT_CHANGED` when one changed since; nothing stays behind.
 */
export async function stageFiles(
  directory: string,
  files: readonly LocalFile[],
): Promise<readonly StagedFile[]> {
  const staged: StagedFile[] = []
  try {
    for (const { key, path, sha256 } of files) {
      const file = await stageArtifact(directory, key)
      staged.push({ path, file })
      if (Buffer.from(digestOf(file.cid)).toString('hex') !== sha256) {
        throw new HandoffError(
          'HSTORE_INPUT_CHANGED',
          `${path} changed while it was put: put it again`,
          {
            details: { path },
          },
        )
      }
    }
    return staged
  } catch (error) {
    for (const { file } of staged) await file.discard()
    throw error
  }
}
