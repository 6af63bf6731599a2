import { CidTable } from '../../store/cid-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import { Numbers } from '../kernel/numbers.ts'
import type { Node, NodeTable } from './nodes.ts'

/** A node on the way, and how many of its parents are still to be looked at. */
interface Step {
  readonly at: number
  left: number
}

/**
 * Returns the nodes that are ancestors of themselves. Entries name each other by hash, so each circle goes through a node
 * that was restated, and is looked for from those alone. Iterative (Tarjan's strongly connected components), so that long
 * histories do not exhaust the stack; nodes have numbers, in the order in which they are come to.
 */
export function cyclicNodes(nodes: NodeTable): readonly Node[] {
  const search = new Search(nodes)
  for (const { entry } of nodes.restated()) search.from(entry.cid)
  return search.cyclic
}

class Search {
  readonly #nodes: NodeTable
  readonly #order = new CidTable()
  /** By a node's number: the lowest number on the stack that it leads to. */
  readonly #low = new Numbers()
  /** By a node's number: 1 while it is on the stack. */
  readonly #open = new Numbers()
  readonly #stack: number[] = []
  readonly #cyclic = new Set<number>()

  constructor(nodes: NodeTable) {
    this.#nodes = nodes
  }

  get cyclic(): readonly Node[] {
    return [...this.#cyclic].map((number) => this.#nodeAt(number))
  }

  from(root: CidText): void {
    if (this.#order.find(root) !== undefined) return
    const path = [this.#enter(root)]
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      if (step.left === 0) {
        path.pop()
        this.#leave(step.at, path.at(-1)?.at)
        continue
      }
      step.left -= 1
      const parent = this.#nodes.nameOf(this.#nodeAt(step.at).parents[step.left]!)
      if (parent === undefined) continue
      const number = this.#order.find(parent)
      if (number === undefined) path.push(this.#enter(parent))
      else if (this.#open.at(number) === 1) {
        this.#lower(step.at, number)
        if (number === step.at) this.#cyclic.add(number)
      }
    }
  }

  #nodeAt(number: number): Node {
    return this.#nodes.get(this.#order.at(number))!
  }

  #enter(name: CidText): Step {
    const at = this.#order.add(name)
    this.#low.set(at, at)
    this.#open.set(at, 1)
    this.#stack.push(at)
    return { at, left: this.#nodeAt(at).parents.length }
  }

  #lower(at: number, low: number): void {
    this.#low.set(at, Math.min(this.#low.at(at), low))
  }

  #leave(at: number, child: number | undefined): void {
    if (child !== undefined) this.#lower(child, this.#low.at(at))
    if (this.#low.at(at) !== at) return
    const group = this.#stack.splice(this.#stack.lastIndexOf(at))
    for (const member of group) {
      this.#open.set(member, 0)
      if (group.length > 1) this.#cyclic.add(member)
    }
  }
}
