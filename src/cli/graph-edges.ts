/** An edge from one column to another, begun in the `start`-th line below a node. */
export interface Edge {
  readonly from: number
  readonly to: number
  readonly start: number
  /** Goes down a column a line, where no lane is in its way; else it takes two lines. */
  readonly isFan: boolean
}

/** What a node's parents do to the lanes, in columns. */
export interface Step {
  readonly at: number
  /** Whether the node's own lane leads on. */
  readonly goesOn: boolean
  /** Where its edges go. */
  readonly leaving: readonly number[]
  /** Those of `leaving` where no lane was before. */
  readonly opened: ReadonlySet<number>
  /** A lane that goes on below the node. */
  readonly pulled: number | undefined
}

/** Returns a node's edges, the farthest of each side first, then the lane that is pulled below it. */
export function edgesOf({ at, leaving, opened, pulled }: Step): Edge[] {
  const columns = [...new Set(leaving)].sort((a, b) => a - b)
  const right = columns.filter((to) => to > at).toReversed()
  const left = columns.filter((to) => to < at)
  const isFan = right.every((to, i) => opened.has(to) && to === at + right.length - i)
  const edges = [
    ...right.map((to, start) => ({ from: at, to, start, isFan })),
    ...left.map((to, start) => ({ from: at, to, start, isFan: false })),
  ]
  if (pulled !== undefined && pulled !== at) {
    edges.push({ from: pulled, to: at, start: heightOf(edges), isFan: false })
  }
  return edges
}

/** Returns how many lines edges take. */
export function heightOf(edges: readonly Edge[]): number {
  return Math.max(0, ...edges.map(endOf))
}

/** Returns the first line in which an edge has arrived. */
export function endOf({ from, to, start, isFan }: Edge): number {
  const columns = Math.abs(from - to)
  return start + (isFan ? columns : Math.min(columns, 2))
}

/** Draws what one line has of an edge: slashes where it leaves and where it arrives, `_` where it passes between. */
export function drawEdge(cells: string[], edge: Edge, line: number): void {
  const { from, to, start, isFan } = edge
  if (line < start || line >= endOf(edge)) return
  const side = to > from ? 1 : -1
  const slash = to > from ? '\\' : '/'
  if (isFan) cells[2 * (from + line - start) + 1] = slash
  else if (line > start) cells[2 * to - side] = slash
  else {
    cells[2 * from + side] = slash
    for (let x = 2 * (from + side); (2 * (to - side) - x) * side >= 0; x += side) {
      if (cells[x] === ' ') cells[x] = '_'
    }
  }
}
