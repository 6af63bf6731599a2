import type { Step } from './graph-edges.ts'
import { drawEdge, edgesOf, endOf, heightOf } from './graph-edges.ts'
import type { DrawnHistory } from './graph-order.ts'

/** One line of a drawn graph. */
export interface GraphLine {
  /** `*`, `|`, `\`, `/`, `_`, `:` and spaces, none at the end. */
  readonly graph: string
  /** The node that the `*` of this line stands for; absent in lines between nodes. */
  readonly node?: number
  /** True where a parent stands above: nodes that are their own ancestors have no order. */
  readonly isAfterParent?: boolean
}

/**
 * Draws nodes that stand children first, a lane for each line of history that is open. A lane keeps its column; what
 * moves are the edges below a node. An edge past other lanes takes two lines, with `_` where it passes.
 *
 * @param order - The nodes in the order in which they are drawn, each once.
 * @param maxLanes - Lanes from this one on share one column behind it, drawn as `:`. A line is at most
 *   `2 * maxLanes + 1` wide.
 */
export function* drawGraph(
  history: DrawnHistory,
  order: Iterable<number>,
  maxLanes: number,
): Generator<GraphLine> {
  const lanes = new Lanes(maxLanes, history.size)
  let ended: number | undefined
  for (const node of order) {
    const parents = history.indexesAt(node)
    const at = lanes.take(node)
    // else a first node and one that has nothing to do with it would look like parent and child
    if (at === ended) yield { graph: lanes.lineOf(undefined) }
    const isAfterParent = parents.some((parent) => lanes.isDrawn(parent))
    yield { graph: lanes.lineOf(at), node, isAfterParent }
    const step = lanes.follow(at, parents)
    const between = lanes.draw(step)
    for (const graph of between) yield { graph }
    ended = step.goesOn || between.length > 0 ? undefined : at
  }
}

class Lanes {
  readonly #max: number
  /** The node that each lane leads to; undefined where a column is free. */
  readonly #leads: (number | undefined)[] = []
  readonly #columns = new Map<number, number>()
  readonly #drawn: Uint8Array

  constructor(max: number, nodes: number) {
    this.#max = max
    this.#drawn = new Uint8Array(nodes)
  }

  isDrawn(node: number): boolean {
    return this.#drawn[node] === 1
  }

  /** Returns the column where a node is drawn, which is free from here on but for the node itself. */
  take(node: number): number {
    const at = this.#columns.get(node) ?? this.#freeFrom(0)
    this.#drawn[node] = 1
    this.#columns.delete(node)
    this.#leads[at] = undefined
    return at
  }

  /** Returns the line of a node, or one with lanes alone. */
  lineOf(at: number | undefined): string {
    const cells = this.#cells(() => true)
    if (at !== undefined) cells[2 * this.#shown(at)] = '*'
    return textOf(cells)
  }

  /** Leads lanes from a node to those of its parents that are not drawn yet. */
  follow(at: number, parents: readonly number[]): Step {
    const wanted = [...new Set(parents)].filter((parent) => !this.isDrawn(parent))
    const joins = wanted.flatMap((parent) => this.#columns.get(parent) ?? [])
    const [first, ...others] = wanted.filter((parent) => !this.#columns.has(parent))
    const opened = new Set<number>()
    let pulled: number | undefined
    if (first === undefined) {
      pulled = joins.filter((column) => column > at).sort((a, b) => a - b)[0]
      if (pulled !== undefined) this.#move(pulled, at)
    } else {
      const home = this.#homeOf(at)
      this.#lead(first, home)
      if (home !== at) opened.add(home)
    }
    for (const parent of others) {
      const column = this.#freeFrom(at + 1)
      this.#lead(parent, column)
      opened.add(column)
    }
    const leaving = [...joins.filter((column) => column !== pulled), ...opened]
    return { at, goesOn: this.#leads[at] !== undefined, leaving, opened, pulled }
  }

  /** Returns the lines between a node and the next. */
  draw(step: Step): string[] {
    const edges = edgesOf(this.#shownStep(step))
    const begins = new Map<number, number>()
    for (const column of step.opened) {
      const edge = edges.find(({ to }) => to === this.#shown(column))
      if (edge !== undefined) begins.set(column, endOf(edge))
    }
    const ends = new Map<number, number>()
    const own = edges.filter(({ from }) => from === this.#shown(step.at))
    if (!step.goesOn) ends.set(step.at, Math.max(0, ...own.map(({ start }) => start)))
    if (step.pulled !== undefined) ends.set(step.pulled, heightOf(own))
    return Array.from({ length: heightOf(edges) }, (_, line) => {
      const cells = this.#cells(
        (column) => line >= (begins.get(column) ?? 0),
        (column) => line < (ends.get(column) ?? 0),
      )
      for (const edge of edges) drawEdge(cells, edge, line)
      return textOf(cells)
    })
  }

  #shownStep({ at, goesOn, leaving, opened, pulled }: Step): Step {
    const shown = (column: number): number => this.#shown(column)
    return {
      at: shown(at),
      goesOn,
      leaving: leaving.map(shown),
      opened: new Set([...opened].map(shown)),
      pulled: pulled === undefined ? undefined : shown(pulled),
    }
  }

  /** A line that had no room may have it now. */
  #homeOf(at: number): number {
    if (at < this.#max) return at
    const free = this.#freeFrom(0)
    return free < this.#max ? free : at
  }

  /** Returns the characters of a line: of the lanes that lead on those that are there, and those that end below it. */
  #cells(
    isThere: (column: number) => boolean,
    isStillThere: (column: number) => boolean = () => false,
  ): string[] {
    const cells = Array.from('  '.repeat(this.#shown(this.#leads.length - 1) + 1))
    for (const [column, lead] of this.#leads.entries()) {
      const isOpen = lead === undefined ? isStillThere(column) : isThere(column)
      if (isOpen) cells[2 * this.#shown(column)] = column < this.#max ? '|' : ':'
    }
    return cells
  }

  #shown(column: number): number {
    return Math.min(column, this.#max)
  }

  #lead(node: number, column: number): void {
    this.#leads[column] = node
    this.#columns.set(node, column)
  }

  #move(from: number, to: number): void {
    this.#lead(this.#leads[from]!, to)
    this.#leads[from] = undefined
  }

  #freeFrom(column: number): number {
    while (this.#leads[column] !== undefined) column++
    return column
  }
}

function textOf(cells: readonly string[]): string {
  return cells.join('').trimEnd()
}
