import type { TestRecord, TestRevision } from './graphs.ts'
import { testAgents } from './graphs.ts'

type Kind = TestRecord['kind']

const kinds: readonly Kind[] = ['action', 'assessment', 'conflict', 'execution']
const statuses: Readonly<Record<Kind, readonly string[]>> = {
  action: ['ready', 'in_progress', 'completed', 'cancelled'],
  assessment: ['open', 'accepted', 'disputed', 'superseded'],
  execution: ['running', 'completed', 'failed'],
  conflict: ['open', 'resolved'],
}
const statusField: Readonly<Record<Kind, string>> = {
  action: 'action_status',
  assessment: 'assessment_status',
  execution: 'execution_status',
  conflict: 'conflict_status',
}

/** Returns a small history with forks and merges, in which honest and other agents do as they like. */
export function randomHistory(random: () => number): readonly TestRevision[] {
  return new Dice(random).history()
}

class Dice {
  readonly #random: () => number
  readonly #revisions: TestRevision[] = []

  constructor(random: () => number) {
    this.#random = random
  }

  history(): readonly TestRevision[] {
    const count = 2 + Math.floor(this.#random() * 9)
    const isTidy = this.#random() < 0.5
    while (this.#revisions.length < count) {
      const author = this.#pick(testAgents)
      const i = this.#revisions.length
      const parents = i === 0 ? [] : this.#parents()
      const records = this.#records(author, parents)
      const odd = isTidy ? 1 : this.#random()
      const as = odd < 0.08 ? 'witness' : odd < 0.12 ? 'rejected' : undefined
      const isShallow = odd > 0.12 && odd < 0.17
      const revision = { name: `r${i}`, author, parents, records, isShallow }
      this.#revisions.push(as === undefined ? revision : { ...revision, as })
    }
    return this.#revisions
  }

  #pick<T>(of: readonly T[]): T {
    return of[Math.floor(this.#random() * of.length)]!
  }

  #near(): number {
    return Math.max(0, this.#revisions.length - 1 - Math.floor(this.#random() ** 2 * 4))
  }

  #parents(): readonly number[] {
    const count = this.#pick([1, 1, 2, 3])
    return [...new Set(Array.from({ length: count }, () => this.#near()))]
  }

  #records(author: string, parents: readonly number[]): readonly TestRecord[] {
    const merged = new Map<string, TestRecord>()
    for (const parent of parents) {
      for (const record of this.#revisions[parent]!.records) {
        const key = `${record.kind} ${record.id}`
        if (!merged.has(key) || this.#random() < 0.5) merged.set(key, record)
      }
    }
    const records = [...merged.values()]
      .filter(() => this.#random() > 0.06)
      .map((record) => (this.#random() < 0.3 ? this.#changed(record, author) : record))
    const more = this.#fresh(author)
    const isThere = records.some(({ kind, id }) => kind === more.kind && id === more.id)
    return isThere || this.#random() < 0.4 ? records : [...records, more]
  }

  #changed(record: TestRecord, author: string): TestRecord {
    const dice = this.#random()
    if (dice < 0.55) return this.#withState(record)
    if (dice < 0.65) return { ...record, text: this.#pick(['one', 'two']) }
    if (dice < 0.7) return { ...record, owner: this.#pick(testAgents) }
    if (dice < 0.76) return { ...record, created_by: this.#pick([author, ...testAgents, 'nobody']) }
    const old = this.#revisions
      .flatMap(({ records }) => records)
      .filter(({ kind, id }) => kind === record.kind && id === record.id)
    return this.#pick(old)
  }

  #withState(record: TestRecord): TestRecord {
    const { resolved_by_head: _head, ...rest } = record as Record<string, string>
    const status = this.#pick(statuses[record.kind])
    const own = `r${this.#revisions.length}`
    const head = this.#pick([own, own, `r${this.#near()}`])
    const more = status === 'resolved' ? { resolved_by_head: head } : {}
    return { ...rest, [statusField[record.kind]]: status, ...more } as unknown as TestRecord
  }

  #fresh(author: string): TestRecord {
    const kind = this.#pick(kinds)
    const creator = this.#random() < 0.85 ? author : this.#pick([...testAgents, 'nobody'])
    const created_by = this.#random() < 0.1 ? `${creator}-too` : creator
    const action = kind === 'execution' ? { action_ref: this.#pick(['1', '2']) } : {}
    const owner = kind === 'action' ? { owner: this.#pick(testAgents) } : {}
    const id = this.#pick(['1', '2'])
    return this.#withState({ kind, id, created_by, text: 'one', ...action, ...owner })
  }
}
