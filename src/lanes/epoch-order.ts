/** A run of nodes of which each follows the one before. */
interface Line {
  length: number
  /** What its nodes follow besides, by where they stand in it. */
  readonly beside: { readonly at: number; readonly spots: readonly Spot[] }[]
}

interface Spot {
  readonly line: Line
  readonly at: number
  /** Above that of all that it follows. */
  readonly depth: number
}

/** How the nodes of one epoch follow each other: lines, as many as the epoch has forks. */
export class EpochOrder {
  readonly #spots = new Map<string, Spot>()

  /** Adds a node behind those that it follows; what is of another epoch is left out. */
  add(key: string, follows: readonly string[]): void {
    if (this.#spots.has(key)) return
    const known = follows.map((one) => this.#spots.get(one)).filter((spot) => spot !== undefined)
    const end = known.find(({ line, at }) => at === line.length - 1)
    const line = end?.line ?? { length: 0, beside: [] }
    const depth = 1 + known.reduce((most, one) => Math.max(most, one.depth), 0)
    const spot = { line, at: line.length, depth }
    line.length += 1
    const spots = known.filter((one) => one !== end)
    if (spots.length > 0) line.beside.push({ at: spot.at, spots })
    this.#spots.set(key, spot)
  }

  /** Returns whether one node is another, or follows it over others. */
  leads(from: string, to: string): boolean {
    const [start, end] = [this.#spots.get(from), this.#spots.get(to)]
    if (start === undefined || end === undefined) return false
    if (start.line === end.line) return start.at >= end.at
    return start.depth > end.depth && isReached(start, end)
  }
}

function isReached(start: Spot, end: Spot): boolean {
  const walked = new Map<Line, number>()
  const open = [start]
  for (let spot = open.pop(); spot !== undefined; spot = open.pop()) {
    const before = walked.get(spot.line) ?? -1
    if (before >= spot.at) continue
    if (spot.line === end.line && spot.at >= end.at) return true
    walked.set(spot.line, spot.at)
    for (const { at, spots } of spot.line.beside)
      if (at > before && at <= spot.at)
        open.push(...spots.filter(({ depth }) => depth >= end.depth))
  }
  return false
}
