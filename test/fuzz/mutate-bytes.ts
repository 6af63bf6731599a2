import type { Dice } from './dice.ts'

type Change = (bytes: Buffer, dice: Dice, other: Uint8Array) => Buffer

const oddBytes = [0, 1, 0x7f, 0x80, 0xff, 0x0a, 0x0d, 0x22, 0x2c, 0x5c, 0x7b, 0x7d, 0xc0, 0xed]
const oddLengths = [0, 1, 0x7f, 0xff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff]
const oddVarints = ['00', '8000', 'ffffffff07', 'ffffffffffffff7f', '80808080808080808001']

function place({ length }: Uint8Array, dice: Dice): number {
  return dice.below(Math.max(1, length))
}

function range(bytes: Uint8Array, dice: Dice, most = 64): [from: number, to: number] {
  const from = place(bytes, dice)
  return [from, Math.min(bytes.length, from + 1 + dice.below(most))]
}

function replace(bytes: Buffer, from: number, to: number, ...parts: Uint8Array[]): Buffer {
  return Buffer.concat([bytes.subarray(0, from), ...parts, bytes.subarray(to)])
}

const changes: readonly Change[] = [
  function flipBit(bytes, dice) {
    if (bytes.length > 0) bytes[place(bytes, dice)]! ^= 1 << dice.below(8)
    return bytes
  },
  function setByte(bytes, dice) {
    if (bytes.length > 0) {
      bytes[place(bytes, dice)] = dice.isBelow(60) ? dice.pick(oddBytes) : dice.below(256)
    }
    return bytes
  },
  function cutEnd(bytes, dice) {
    return bytes.subarray(0, place(bytes, dice))
  },
  function remove(bytes, dice) {
    return replace(bytes, ...range(bytes, dice))
  },
  function insert(bytes, dice) {
    const at = place(bytes, dice)
    return replace(bytes, at, at, dice.bytes(1 + dice.below(8)))
  },
  function repeat(bytes, dice) {
    const [from, to] = range(bytes, dice)
    const times = dice.pick([1, 2, 3, 17, 200])
    return replace(bytes, to, to, ...Array.from({ length: times }, () => bytes.subarray(from, to)))
  },
  function splice(bytes, dice, other) {
    const [from, to] = range(other, dice, 256)
    const at = place(bytes, dice)
    return replace(bytes, at, dice.isBelow(50) ? at : at + to - from, other.subarray(from, to))
  },
  function swap(bytes, dice) {
    const [from, to] = range(bytes, dice)
    const [start, end] = range(bytes, dice)
    if (to > start) return bytes
    const [first, second] = [bytes.subarray(from, to), bytes.subarray(start, end)]
    return replace(bytes, from, end, second, bytes.subarray(to, start), first)
  },
  function setLength(bytes, dice) {
    const at = place(bytes, dice)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(dice.pick(oddLengths))
    return replace(bytes, at, at + 4, length)
  },
  function setVarint(bytes, dice) {
    const at = place(bytes, dice)
    return replace(bytes, at, at + 1, Buffer.from(dice.pick(oddVarints), 'hex'))
  },
]

/** Returns a copy of `bytes` with one to four changes below any structure; at most `maxBytes`. */
export function mutateBytes(
  bytes: Uint8Array,
  dice: Dice,
  other: Uint8Array,
  maxBytes = 16 * 1024,
): Uint8Array {
  let changed = Buffer.from(bytes)
  for (let left = dice.pick([1, 1, 1, 2, 4]); left > 0; left--) {
    changed = Buffer.from(dice.pick(changes)(changed, dice, other))
  }
  return new Uint8Array(changed.subarray(0, maxBytes))
}
