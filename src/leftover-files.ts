import { readdir, realpath, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import { isAlive } from '../store/holder.ts'

const dayMs = 86_400_000

/**
 * Removes what writes of a file that were killed have left beside it: temporary files of its own, whose process is gone
 * or which are older than a day. What can't be removed stays.
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
    if (isAlive(Number(pid)) && !(await isOld(leftover))) continue
    await unlink(leftover).catch(() => undefined)
  }
}

async function isOld(file: string): Promise<boolean> {
  const found = await stat(file).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs > dayMs
}
