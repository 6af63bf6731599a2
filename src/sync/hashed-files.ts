import type { BigIntStats } from 'node:fs'
import type { Hash } from 'node:crypto'

interface Hashed {
  readonly hash: Hash
  readonly state: string
}

/** Files that come in turn, in many requests each. */
const maxFiles = 64
const files = new Map<string, Hashed>()

/**
 * Remembers the SHA-256 of all that a file holds, by what the system says of it: as long as it says the same, a file that
 * comes in many requests, or waits to be needed, is not read again.
 */
export function noteHashed(stats: BigIntStats, hash: Hash): void {
  const key = keyOf(stats)
  files.delete(key)
  files.set(key, { hash: hash.copy(), state: stateOf(stats) })
  const [oldest] = files.keys()
  if (files.size > maxFiles && oldest !== undefined) files.delete(oldest)
}

/** Returns the SHA-256 of all that a file holds, to go on with; undefined where it was never noted, or the file has changed. */
export function findHashed(stats: BigIntStats): Hash | undefined {
  const found = files.get(keyOf(stats))
  return found?.state === stateOf(stats) ? found.hash.copy() : undefined
}

function keyOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`
}

/** A new name is no change: that of what comes changes when it is taken, left, and whole. */
function stateOf({ size, mtimeNs }: BigIntStats): string {
  return `${size} ${mtimeNs}`
}
