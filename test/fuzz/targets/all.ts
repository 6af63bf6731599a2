import { SeedFolder } from '../seeds.ts'
import type { Target } from '../target.ts'
import { archiveTargets } from './archives.ts'
import { blockTargets } from './blocks.ts'
import { entryTargets } from './entries.ts'
import { envelopeTargets } from './envelopes.ts'
import { fileTargets } from './files.ts'
import { keyTargets } from './keys.ts'

/** Returns every target. Those of files make a folder of their own, which goes when the process ends. */
export async function makeTargets(root: string, vectors: string | undefined): Promise<Target[]> {
  const seeds = new SeedFolder(root, vectors)
  return [
    ...blockTargets(seeds),
    ...entryTargets(seeds),
    ...envelopeTargets(seeds),
    ...keyTargets(seeds),
    ...(await archiveTargets(seeds)),
    ...(await fileTargets()),
  ]
}
