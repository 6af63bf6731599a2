/** A line of a drawn graph as a reader sees it: characters, and beside a `*` its name. */
export interface SeenLine {
  readonly graph: string
  readonly key: string | undefined
}

interface Place {
  readonly row: number
  readonly x: number
}

/**
 * Reads a drawn graph as a person does, by following its lines down from each `*` with the eye, and returns the pairs
 * `child parent` that it shows. Knows nothing of how graphs are drawn. Throws where a line leads nowhere.
 */
export function traceGraph(lines: readonly SeenLine[]): ReadonlySet<string> {
  const at = ({ row, x }: Place): string => lines[row]?.graph[x] ?? ' '
  const edges = new Set<string>()
  for (const [row, { graph, key }] of lines.entries()) {
    if (key === undefined) continue
    for (const start of startsBelow({ row, x: graph.indexOf('*') })) {
      edges.add(`${key} ${keyAt(start)}`)
    }
  }
  return edges

  /** Everything that leaves a node: down its own column, and slashes beside that column before the next node. */
  function startsBelow({ row, x }: Place): Place[] {
    const starts: Place[] = []
    let below = row + 1
    for (; below < lines.length && lines[below]!.key === undefined; below++) {
      for (const side of [1, -1]) {
        const place = { row: below, x: x + side }
        if (isSlash(place, side) && !comesAcross(place, side)) starts.push(landing(place, side))
      }
      if (at({ row: below, x }) !== '|') return starts
    }
    if ('|*'.includes(at({ row: below, x }))) starts.push({ row: below, x })
    return starts
  }

  function isSlash(place: Place, side: number): boolean {
    return at(place) === (side > 0 ? '\\' : '/')
  }

  /** A slash that goes on from the line above belongs to what comes from there. */
  function comesAcross({ row, x }: Place, side: number): boolean {
    const before = at({ row: row - 1, x: x - 2 * side })
    return before === (side > 0 ? '\\' : '/') || before === '_'
  }

  /** Follows a slash across lanes to the column where it arrives. */
  function landing({ row, x }: Place, side: number): Place {
    let end = x
    while (at({ row, x: end + 2 * side }) === '_') end += 2 * side
    const next = { row: row + 1, x: end + 2 * side }
    if (isSlash(next, side)) return landing(next, side)
    if (end !== x) throw new Error(`an edge ends in row ${row}`)
    return { row: row + 1, x: x + side }
  }

  /** Follows a column down to the node in it. */
  function keyAt(start: Place): string {
    let place = start
    for (;;) {
      const sign = at(place)
      if (sign === '*') return lines[place.row]!.key!
      if (sign === '|') place = { row: place.row + 1, x: place.x }
      else if (isSlash({ row: place.row, x: place.x - 1 }, -1)) {
        place = landing({ row: place.row, x: place.x - 1 }, -1)
      } else throw new Error(`a lane ends in row ${place.row}`)
    }
  }
}
