import type { TestRecord, TestRevision } from './graphs.ts'
import { testAgents } from './graphs.ts'

type Ground = 'missing' | 'nameless' | 'witness' | 'word'
type Part = 'origin' | 'state'

interface Said {
  readonly at: number
  readonly record: TestRecord | undefined
  readonly value: string
  readonly ground: Ground
}

const stateFields: Readonly<Record<string, readonly string[]>> = {
  action: ['action_status'],
  assessment: ['assessment_status'],
  execution: ['execution_status', 'started_on', 'completed_on', 'execution_outcome', 'outputs'],
  conflict: ['conflict_status', 'resolution', 'resolved_by_head'],
}

/**
 * Returns the verdict on each record of each revision, by revision and `kind id`. As slow and as plain as the page
 * says it: every setting is held against every other, over whole sets of ancestors.
 *
 * @see docs/trust.md, «Attribution»
 */
export function oracle(revisions: readonly TestRevision[]): readonly ReadonlyMap<string, string>[] {
  const above: Set<number>[] = []
  for (const { parents } of revisions) {
    above.push(new Set(parents.flatMap((parent) => [parent, ...above[parent]!])))
  }
  const isCut: boolean[] = []
  for (const { isShallow = false, parents } of revisions) {
    isCut.push(isShallow || parents.some((p) => revisions[p]!.as !== undefined && isCut[p]!))
  }
  const settings: Record<Part, Map<string, Said[]>> = { origin: new Map(), state: new Map() }
  return revisions.map((revision, i) => judgeRevision(revision, i))

  function judgeRevision(revision: TestRevision, i: number): Map<string, string> {
    const verdicts = new Map<string, string>()
    const found: [Part, string, Said][] = []
    for (const record of revision.records) {
      const key = keyOf(record)
      verdicts.set(key, judgeRecord(revision, i, record, key, found))
    }
    for (const key of new Set(settings.state.keys())) {
      if (!verdicts.has(key)) judgeAbsent(revision, i, key, verdicts, found)
    }
    for (const [part, key, said] of found) {
      settings[part].set(key, [...(settings[part].get(key) ?? []), said])
    }
    return verdicts
  }

  function judgeRecord(
    { author, as }: TestRevision,
    i: number,
    record: TestRecord,
    key: string,
    found: [Part, string, Said][],
  ): string {
    const make = (part: Part, ground: Ground): string => {
      found.push([part, key, { at: i, record, value: valueOf(record, part), ground }])
      return ground === 'word' ? 'proven' : 'unproven'
    }
    if (as === undefined) {
      const origin = judgeOrigin(author, i, record, key, make)
      const made = found.find(([part, of]) => part === 'origin' && of === key)?.[2].ground
      const verdicts = [origin, judgeState(author, i, record, key, make, made, origin)]
      return ['forged', 'stale', 'changed', 'unproven', 'proven'].find((one) =>
        verdicts.includes(one),
      )!
    }
    const verdicts = parts.map((part) => match(record, part, latest(part, key, i)))
    if (as === 'witness' && firm(latest('origin', key, i)).length === 0) {
      for (const part of parts) make(part, 'witness')
    }
    return verdicts.every((one) => one === 'proven') ? 'proven' : 'unproven'
  }

  function judgeOrigin(
    author: string,
    i: number,
    record: TestRecord,
    key: string,
    make: (part: Part, ground: Ground) => string,
  ): string {
    const now = latest('origin', key, i)
    const creator = agentOf(record['created_by'])
    const isCreator =
      creator === author &&
      (firm(now).length === 0 || firm(now).some((one) => agentOf(createdBy(one)) === author))
    if (isCreator) return isSettled(record, 'origin', now) ? 'proven' : make('origin', 'word')
    if (isCut[i]!) return make('origin', 'missing')
    const matched = match(record, 'origin', now)
    if (matched !== undefined) return matched
    const isNameless = firm(now).every(
      (one) => one.ground === 'nameless' && createdBy(one) === record['created_by'],
    )
    if (creator === undefined && isNameless) return make('origin', 'nameless')
    return wasSaid(record, 'origin', key, i) ? 'stale' : 'forged'
  }

  function judgeState(
    author: string,
    i: number,
    record: TestRecord,
    key: string,
    make: (part: Part, ground: Ground) => string,
    made: Ground | undefined,
    originVerdict: string,
  ): string {
    const now = latest('state', key, i)
    if (firm(now).length === 0) return made === undefined ? originVerdict : make('state', made)
    const gives =
      ['disputed', 'superseded'].includes(text(record, 'assessment_status')) ||
      (record['conflict_status'] === 'resolved' &&
        [i, ...above[i]!].some(
          (at) =>
            revisions[at]!.as === undefined &&
            revisions[at]!.name === record['resolved_by_head'] &&
            revisions[at]!.author === author,
        ))
    if (mayState(author, key, i) || gives)
      return isSettled(record, 'state', now) ? 'proven' : make('state', 'word')
    if (isCut[i]!) return make('state', 'missing')
    const matched = match(record, 'state', now)
    if (matched !== undefined) return matched
    if (firm(latest('origin', key, i)).every(({ ground }) => ground === 'nameless'))
      return make('state', 'nameless')
    return wasSaid(record, 'state', key, i) ? 'stale' : 'changed'
  }

  function judgeAbsent(
    { author, as }: TestRevision,
    i: number,
    key: string,
    verdicts: Map<string, string>,
    found: [Part, string, Said][],
  ): void {
    const state = latest('state', key, i)
    if (state.length === 0 || !wasStated(i, key)) return
    const isThere = wasThere(i, key)
    if (as !== undefined && isThere) return
    const isNew = isThere && !isOver(state) && state.some(({ record }) => record !== undefined)
    const may = mayState(author, key, i)
    if (isNew && (may || isCut[i]!)) {
      const ground = may ? 'word' : 'missing'
      const said = { at: i, record: undefined, value: '', ground } as const
      found.push(['state', key, said])
      verdicts.set(key, absenceAt([said], key, i))
      return
    }
    verdicts.set(key, absenceAt(state, key, i))
  }

  function absenceAt(state: readonly Said[], key: string, i: number): string {
    return isTakenBack(state, key, i) ? 'due' : absence(state)
  }

  function isTakenBack(state: readonly Said[], key: string, i: number): boolean {
    const creators = firm(latest('origin', key, i)).map((one) => agentOf(createdBy(one)))
    return state.every(
      ({ at, ground, record }) =>
        record === undefined && ground === 'word' && creators.includes(revisions[at]!.author),
    )
  }

  function wasStated(i: number, key: string): boolean {
    return [...above[i]!].some((at) => revisions[at]!.as === undefined && has(revisions[at]!, key))
  }

  /** Whether one of the revisions before has the record; a witness's stands for those before it. */
  function wasThere(i: number, key: string): boolean {
    return revisions[i]!.parents.some((parent) =>
      revisions[parent]!.as === undefined ? has(revisions[parent]!, key) : wasThere(parent, key),
    )
  }

  function latest(part: Part, key: string, i: number): Said[] {
    const all = (settings[part].get(key) ?? []).filter(({ at }) => above[i]!.has(at))
    return all.filter((one) => !all.some((other) => replaces(part, other, one)))
  }

  function replaces(part: Part, later: Said, earlier: Said): boolean {
    if (!above[later.at]!.has(earlier.at)) return false
    if (part === 'state' || later.ground !== 'word' || earlier.ground === 'witness') return true
    return agentOf(createdBy(earlier)) === revisions[later.at]!.author
  }

  function wasSaid(record: TestRecord, part: Part, key: string, i: number): boolean {
    return (settings[part].get(key) ?? []).some(
      (one) =>
        above[i]!.has(one.at) &&
        one.ground !== 'witness' &&
        one.record !== undefined &&
        one.value === valueOf(record, part),
    )
  }

  function mayState(author: string, key: string, i: number): boolean {
    return latest('origin', key, i).some(({ ground, record }) => {
      if (ground === 'witness') return false
      if (agentOf(record!['created_by']) === author) return true
      if (record!.kind === 'action') return agentOf(record!['owner']) === author
      if (record!.kind !== 'execution') return false
      return latest('origin', `action ${text(record, 'action_ref')}`, i).some(
        (action) => action.ground !== 'witness' && agentOf(action.record!['owner']) === author,
      )
    })
  }
}

const parts = ['origin', 'state'] as const

function firm(settings: readonly Said[]): readonly Said[] {
  return settings.filter(({ ground }) => ground !== 'witness')
}

function match(record: TestRecord, part: Part, all: readonly Said[]): string | undefined {
  const value = valueOf(record, part)
  const equal = all.filter((one) => one.value === value)
  const doubt = all.some((one) => one.ground === 'missing' && one.value !== value)
  if (equal.length === 0) return undefined
  return !doubt && equal.some(({ ground }) => ground === 'word') ? 'proven' : 'unproven'
}

function isSettled(record: TestRecord, part: Part, all: readonly Said[]): boolean {
  const value = valueOf(record, part)
  return all.length > 0 && all.every((one) => one.ground === 'word' && one.value === value)
}

function isOver(state: readonly Said[]): boolean {
  return state.every(({ record }) => record?.['conflict_status'] === 'resolved')
}

function absence(state: readonly Said[]): string {
  if (isOver(state)) return 'due'
  const isKept = state.every(({ record }) => record !== undefined)
  return isKept && state.some(({ record }) => isOpenWork(record)) ? 'missed' : 'noted'
}

function isOpenWork(record: TestRecord | undefined): boolean {
  if (record?.kind === 'conflict') return record['conflict_status'] === 'open'
  const isFinished = ['cancelled', 'completed'].includes(text(record, 'action_status'))
  return record?.kind === 'action' && !isFinished
}

function text(record: TestRecord | undefined, field: string): string {
  const value = record?.[field]
  return typeof value === 'string' ? value : ''
}

function keyOf({ kind, id }: TestRecord): string {
  return `${kind} ${id}`
}

function has({ records }: TestRevision, key: string): boolean {
  return records.some((record) => keyOf(record) === key)
}

function createdBy({ record }: Said): unknown {
  return record?.['created_by']
}

function agentOf(name: unknown): string | undefined {
  return testAgents.find((id) => name === id || name === `${id}-too`)
}

function valueOf(record: TestRecord, part: Part): string {
  const fields = Object.entries(record)
    .filter(([key]) => stateFields[record.kind]!.includes(key) === (part === 'state'))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(fields)
}
