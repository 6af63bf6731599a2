import type { Bundle } from './contracts/csag/bundle.ts'
import { openDirectoryBundle } from './contracts/csag/directory-bundle.ts'
import { makeVirtualBundle } from './contracts/csag/virtual-bundle.ts'

/** Returns the files around an envelope: those of a folder, or none. */
export async function openSourceBundle(folder: string | undefined): Promise<Bundle> {
  return folder === undefined ? makeVirtualBundle(new Map()) : openDirectoryBundle(folder)
}
