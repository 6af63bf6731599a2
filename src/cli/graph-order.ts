/** A node as the graph is drawn from it. */
export interface GraphNode {
  readonly key: string
  /** Keys of what it follows; one that is no node of the drawing stands for history that goes on below it. */
  readonly parents: readonly string[]
}

/**
 * Returns the nodes line by line: children before parents, and each line of history down to where it forks before the
 * next one begins, so that few lines are open at once. Nodes that are their own ancestors come last, as given.
 */
export function lineByLine<T extends GraphNode>(nodes: readonly T[]): readonly T[] {
  const byKey = new Map(nodes.map((node) => [node.key, node]))
  const children = new Map<string, number>()
  for (const { parents } of nodes) {
    for (const parent of new Set(parents)) children.set(parent, (children.get(parent) ?? 0) + 1)
  }
  const open = nodes.filter(({ key }) => !children.has(key)).toReversed()
  const order = new Set<T>()
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    order.add(node)
    for (const key of new Set(node.parents)) {
      const left = children.get(key)! - 1
      children.set(key, left)
      const parent = byKey.get(key)
      if (left === 0 && parent !== undefined) open.push(parent)
    }
  }
  return [...order, ...nodes.filter((node) => !order.has(node))]
}
