import { randomInt } from 'node:crypto'

/**
 * Returns whether a text may be among `texts` more than once. Of those that are not, a few are taken for such: whoever asks
 * looks at what remains by itself. It takes 16 bytes a text, whatever these are.
 *
 * @param count - How many there are, or more.
 */
export function mayRepeat(texts: Iterable<string>, count: number): (text: string) => boolean {
  const mask = 2 ** Math.ceil(Math.log2(16 * Math.max(64, count))) - 1
  // nobody can choose texts that are taken for repeats without it
  const seed = randomInt(2 ** 32)
  const seen = new Uint8Array(mask + 1)
  for (const text of texts) {
    const at = hashOf(text, seed) & mask
    seen[at] = Math.min(2, seen[at]! + 1)
  }
  return (text) => seen[hashOf(text, seed) & mask] === 2
}

function hashOf(text: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x85ebca6b)
    hash ^= hash >>> 13
  }
  return hash
}
