import { createHash } from 'node:crypto'

/** Throws dice that fall alike for one seed. */
export interface Dice {
  /** Returns a whole number from 0 to below `sides`. */
  below(sides: number): number
  pick<T>(list: readonly T[]): T
}

/** Returns the dice of a seed. */
export function diceOf(seed: number | string): Dice {
  let count = 0
  const below = (sides: number): number =>
    createHash('sha256').update(`${seed} ${count++}`).digest().readUInt32BE() % sides
  return { below, pick: (list) => list[below(list.length)]! }
}
