import { SeedFolder } from '../seeds.ts'
import type { Target } from '../target.ts'
import { archiveTargets } from './archives.ts'
import { blockTargets } from './blocks.ts'
import { databaseFileTargets } from './database-files.ts'
import { entryTargets } from './entries.ts'
import { envelopeTargets } from './envelopes.ts'
import { fileTargets } from './files.ts'
import { keyTargets } from './keys.ts'

/**
 * Returns every target.
 *
 * @param folder - An empty one, for what has to be a file.
 */
export async function makeTargets(
  root: string,
  vectors: string | undefined,
  folder: string,
): Promise<Target[]> {
  const seeds = new SeedFolder(root, vectors)
  return [
    ...blockTargets(seeds),
    ...entryTargets(seeds),
    ...envelopeTargets(seeds),
    ...keyTargets(seeds),
    ...(await archiveTargets(seeds)),
    ...(await fileTargets(folder)),
    ...(await databaseFileTargets(folder)),
  ]
}
