/** A history as a graph is drawn from it: nodes by index, children before parents as far as they have an order. */
export interface DrawnHistory {
  readonly size: number
  /** Returns what a node follows: indexes, and from `size` on numbers that stand for history that goes on below it. */
  indexesAt(index: number): readonly number[]
}

/**
 * Returns the nodes line by line: children before parents, and each line of history down to where it forks before the
 * next one begins, so that few lines are open at once. Nodes that are their own ancestors come last, as given.
 */
export function lineByLine(history: DrawnHistory): Uint32Array {
  const { size } = history
  const children = new Int32Array(size)
  for (let node = 0; node < size; node++)
    for (const parent of parentsIn(history, node)) children[parent]! += 1
  const open: number[] = []
  for (let node = size - 1; node >= 0; node--) if (children[node] === 0) open.push(node)
  const order = new Uint32Array(size)
  const isPlaced = new Uint8Array(size)
  let placed = 0
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    order[placed++] = node
    isPlaced[node] = 1
    for (const parent of parentsIn(history, node)) {
      children[parent]! -= 1
      if (children[parent] === 0) open.push(parent)
    }
  }
  for (let node = 0; node < size; node++) if (isPlaced[node] === 0) order[placed++] = node
  return order
}

function parentsIn(history: DrawnHistory, node: number): Set<number> {
  return new Set(history.indexesAt(node).filter((parent) => parent < history.size))
}
