import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { onTestFinished } from 'vitest'

/** Whether this process may mount file systems. */
export function canMount(folder: string): boolean {
  if (process.getuid?.() !== 0) return false
  const at = path.join(folder, 'try')
  try {
    mkdirSync(at)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', at], { stdio: 'ignore' })
    execFileSync('umount', [at])
    return true
  } catch {
    return false
  }
}

/** A file system of its own that can be filled and made read-only; gone when the test has ended. */
export class SmallDisk {
  readonly path: string

  /** @param size - As mount takes it. */
  constructor(at: string, size: string) {
    this.path = at
    mkdirSync(at)
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', at])
    onTestFinished(() => void execFileSync('umount', ['-l', at]))
  }

  /** Fills it but for so many bytes, rounded to blocks. */
  fill(freeBytes: number): void {
    this.empty()
    const { bavail, bsize } = statfsSync(this.path)
    const size = bavail * bsize - Math.ceil(freeBytes / bsize) * bsize
    if (size > 0) writeFileSync(this.#filler, Buffer.alloc(size))
  }

  /** Makes room again. */
  empty(): void {
    rmSync(this.#filler, { force: true })
  }

  setReadOnly(is: boolean): void {
    execFileSync('mount', ['-o', `remount,${is ? 'ro' : 'rw'}`, this.path])
  }

  get #filler(): string {
    return path.join(this.path, 'filler')
  }
}
