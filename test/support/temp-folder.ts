import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Returns a new empty folder, as a real path, that is removed when the running test has ended. */
export async function makeTempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hstore-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}
