import { writeSync } from 'node:fs'

/** What is held back at most, in bytes: an answer that fits is given out once it is whole. */
const maxHeldBytes = 1024 * 1024

/** Stdout and stderr of a verb that is done by another process, in the order that it wrote. */
export class Output {
  readonly #held: { readonly fd: 1 | 2; readonly bytes: Uint8Array }[] = []
  #heldBytes = 0
  #isCutOff = false
  /** Whether any of it was given out. */
  isGiven = false

  /** Takes bytes; false when they can't be written. */
  add(fd: 1 | 2, bytes: Uint8Array): boolean {
    this.#held.push({ fd, bytes })
    this.#heldBytes += bytes.length
    return this.#heldBytes <= maxHeldBytes || this.flush()
  }

  /** Gives out what is held; false when it can't be written. */
  flush(): boolean {
    for (const { fd, bytes } of this.#held.splice(0)) if (!this.#write(fd, bytes)) return false
    this.#heldBytes = 0
    return true
  }

  #write(fd: 1 | 2, bytes: Uint8Array): boolean {
    let at = 0
    while (at < bytes.length) {
      // a reader that has seen enough is no fault
      if (fd === 1 && this.#isCutOff) return true
      try {
        at += writeSync(fd, bytes, at)
        this.isGiven = true
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : undefined
        // somebody else has made the pipe one that does not wait
        if (code === 'EAGAIN') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
        else if (code === 'EPIPE' && fd === 1) this.#isCutOff = true
        else return fd === 2
      }
    }
    return true
  }
}
