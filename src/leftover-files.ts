import { readdir, realpath, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import { isAlive } from '../store/holder.ts'

const dayMs = 86_400_000
/** The numbers of processes in another container say nothing here: what was written just now is spared. */
const minuteMs = 60_000

/**
 * Removes what writes of a file that were killed have left beside it: temporary files of its own that are older than a
 * minute and whose process is gone, or older than a day. What can't be removed stays.
 *
 * @param file - The file; its own place, links followed, is looked at.
 */
export async function removeLeftovers(file: string): Promise<void> {
  const place = await realpath(file).catch(() => path.resolve(file))
  const folder = path.dirname(place)
  const begin = `${path.basename(place)}.`
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = name.startsWith(begin)
      ? /^(\d+)\.[a-z\d]+\.tmp$/.exec(name.slice(begin.length))?.[1]
      : undefined
    if (pid === undefined) continue
    const leftover = path.join(folder, name)
    const sparedMs = isAlive(Number(pid)) ? dayMs : minuteMs
    if (!(await isOlder(leftover, sparedMs))) continue
    await unlink(leftover).catch(() => undefined)
  }
}

async function isOlder(file: string, ms: number): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > ms
}
