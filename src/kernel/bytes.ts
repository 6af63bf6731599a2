/** Returns a plain view of `bytes` over the same memory: a Buffer compares unequal to a Uint8Array. */
export function asBytes(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array
    ? bytes
    : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Returns a copy of `bytes`, which nobody else can change: `slice` of a Buffer gives a view. */
export function copyBytes(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes)
}

/** Returns a Buffer over the same memory, for the parts of Node that are quicker with one. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Returns whether both hold the same bytes. Not for secrets: the time taken depends on the bytes. */
export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && asBuffer(a).equals(b)
}

/** Returns the order of two texts by their UTF-8 bytes: negative, zero or positive. */
export function compareUtf8(a: string, b: string): number {
  const n = Math.min(a.length, b.length)
  for (let i = 0; i < n; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** A surrogate stands for a character past U+FFFF, so it ranks above U+E000 to U+FFFF as its UTF-8 bytes do. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}
