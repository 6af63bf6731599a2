/** A turn as the order sees it. */
export interface Step {
  /** Its text, as a CID: what two turns of equal length behind them are told apart by. */
  readonly body: string
  /** The turns that it follows. */
  readonly behind: readonly number[]
}

/** Turns in an order in which each stands behind those that it follows. */
export interface Ordered {
  readonly numbers: readonly number[]
  /** Whether some are not behind the longest of the heads. */
  readonly isForked: boolean
}

/**
 * Returns the turns behind heads in one order: those behind the longest branch, then what the next one adds. So the
 * turns behind a turn come in the same order whatever follows it.
 */
export function orderBehind(heads: readonly number[], steps: ReadonlyMap<number, Step>): Ordered {
  const depths = depthsOf(heads, steps)
  const longestFirst = (numbers: readonly number[]): number[] =>
    [...numbers].sort((a, b) => {
      const [of, other] = [steps.get(a)!.body, steps.get(b)!.body]
      return depths.get(b)! - depths.get(a)! || (of < other ? -1 : of > other ? 1 : a - b)
    })
  const [first, ...others] = longestFirst([...new Set(heads)])
  if (first === undefined) return { numbers: [], isForked: false }
  const seen = new Set<number>()
  const behind = (number: number): number[] => longestFirst(steps.get(number)!.behind)
  addBehind(first, behind, seen)
  const count = seen.size
  for (const other of others) addBehind(other, behind, seen)
  return { numbers: [...seen], isForked: seen.size > count }
}

/** How many turns are behind each on its longest way. */
function depthsOf(
  heads: readonly number[],
  steps: ReadonlyMap<number, Step>,
): ReadonlyMap<number, number> {
  const seen = new Set<number>()
  for (const head of heads) addBehind(head, (number) => steps.get(number)!.behind, seen)
  const depths = new Map<number, number>()
  for (const number of seen) {
    let depth = 0
    for (const other of steps.get(number)!.behind) depth = Math.max(depth, 1 + depths.get(other)!)
    depths.set(number, depth)
  }
  return depths
}

/** Adds a turn behind all that it follows. Without recursion: relays are long. */
function addBehind(
  start: number,
  behind: (number: number) => readonly number[],
  seen: Set<number>,
): void {
  const path = [{ number: start, open: [...behind(start)] }]
  for (let at = path.at(-1); at !== undefined; at = path.at(-1)) {
    const next = at.open.shift()
    if (next === undefined) {
      seen.add(at.number)
      path.pop()
    } else if (!seen.has(next)) path.push({ number: next, open: [...behind(next)] })
  }
}
