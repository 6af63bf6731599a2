import { existsSync, rmSync } from 'node:fs'

const maxRounds = 10
const roundMs = 20

const paths = new Set<string>()

/** Notes a temporary file or folder before it is made, so that a process that is told to end takes it along. */
export function noteTemporary(path: string): void {
  paths.add(path)
}

/** Forgets a temporary path that is gone, or has its own name by now. */
export function forgetTemporary(path: string): void {
  paths.delete(path)
}

/**
 * Removes what this process has under way, as far as that can be done: for a process that is ending. What its other
 * threads have begun may make a folder anew, so it waits for them, while nothing new can begin, and looks again.
 */
export function removeTemporaries(): void {
  for (let round = 0; round < maxRounds; round++) {
    const isGone = ![...paths].some((path) => existsSync(path))
    if (isGone && round > 0) return
    removeAll()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, roundMs)
  }
}

function removeAll(): void {
  for (const path of paths) {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 10 })
    } catch {
      // there is nobody left to be told, and gc removes what stays
    }
  }
}
