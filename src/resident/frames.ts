/*
 * What goes over a local socket, both ways: the length of the rest as 4 bytes, big-endian; one letter; bytes.
 *
 *   H  it is your turn                R  the request, once, in JSON
 *   O  E  bytes for stdout, stderr    I  bytes of stdin, after W
 *   W  stdin is wanted                Z  its end
 *   K  still at work
 *   A  do it alone
 *   X  the exit code, a byte: the last
 */

/** The largest frame, in bytes. */
export const maxFrameBytes: number = 256 * 1024

/** One message. */
export interface Frame {
  readonly kind: string
  readonly bytes: Buffer
}

/** Returns the frames that carry bytes of one kind, as one piece. */
export function framesOf(kind: string, bytes: Uint8Array = new Uint8Array(0)): Buffer {
  const parts: Uint8Array[] = []
  const room = maxFrameBytes - 1
  for (let at = 0; at === 0 || at < bytes.length; at += room) {
    const part = bytes.subarray(at, at + room)
    const head = Buffer.alloc(5)
    head.writeUInt32BE(part.length + 1)
    head.write(kind, 4, 'latin1')
    parts.push(head, part)
  }
  return Buffer.concat(parts)
}

/** Parts bytes that come in pieces into frames. */
export class FrameSplitter {
  #rest: Buffer = Buffer.alloc(0)

  /**
   * Returns the frames that a further piece completes; undefined when one is empty or too large: nobody knows where the
   * next begins.
   */
  take(piece: Uint8Array): readonly Frame[] | undefined {
    this.#rest = this.#rest.length === 0 ? Buffer.from(piece) : Buffer.concat([this.#rest, piece])
    const frames: Frame[] = []
    while (this.#rest.length >= 4) {
      const size = this.#rest.readUInt32BE()
      if (size === 0 || size > maxFrameBytes) return undefined
      if (this.#rest.length < 4 + size) break
      const kind = this.#rest.toString('latin1', 4, 5)
      frames.push({ kind, bytes: this.#rest.subarray(5, 4 + size) })
      this.#rest = this.#rest.subarray(4 + size)
    }
    return frames
  }
}
