import { randomOf } from '../support/envelope.ts'

/** Repeatable chance: the same seed gives the same throws, on every machine. */
export class Dice {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = randomOf(seed)
  }

  /** Returns a whole number from 0 to `count` − 1. */
  below(count: number): number {
    return Math.floor(this.#next() * count)
  }

  /** Returns one item. */
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  /** Returns true `of` times in a hundred. */
  isBelow(of: number): boolean {
    return this.below(100) < of
  }

  /** Returns random bytes. */
  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256))
  }
}

/** Returns the dice of one mutant, so that each can be made again without those before it. */
export function diceOf(seed: number, target: string, index: number): Dice {
  let mixed = Math.imul(seed ^ 0x9e3779b1, 0x85ebca6b) ^ Math.imul(index + 1, 0xc2b2ae35)
  for (const unit of target) mixed = Math.imul(mixed ^ (unit.codePointAt(0) ?? 0), 0x01000193)
  return new Dice(mixed)
}
