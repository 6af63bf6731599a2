import { rmSync } from 'node:fs'

const paths = new Set<string>()

/** Notes a temporary file or folder before it is made, so that a process that is told to end takes it along. */
export function noteTemporary(path: string): void {
  paths.add(path)
}

/** Forgets a temporary path that is gone, or has its own name by now. */
export function forgetTemporary(path: string): void {
  paths.delete(path)
}

/** Removes what this process has under way, at once and as far as that can be done: for a process that is ending. */
export function removeTemporaries(): void {
  for (const path of paths) {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 10 })
    } catch {
      // there is nobody left to be told, and gc removes what stays
    }
  }
}
