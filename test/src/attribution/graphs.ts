import { CidTable } from '../../../store/cid-table.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import type { JsonForm } from '../../../store/canonical.ts'
import type { VerifiedEntry } from '../../../src/entry/entry.ts'
import { findEnvelopeFacts } from '../../../src/graph/body.ts'
import { EntryTable } from '../../../src/entry/entry-table.ts'
import { BodyTable } from '../../../src/graph/body-table.ts'
import type { LoadedGraph } from '../../../src/graph/loaded.ts'
import type { Trust } from '../../../src/trust/standing.ts'

/** A record as a test writes it: its kind, its id and its fields. */
export interface TestRecord {
  readonly kind: 'action' | 'assessment' | 'conflict' | 'execution'
  readonly id: string
  readonly [field: string]: JsonForm
}

/** A revision as a test writes it. */
export interface TestRevision {
  readonly name: string
  readonly author: string
  /** Positions of earlier revisions. */
  readonly parents: readonly number[]
  readonly records: readonly TestRecord[]
  /** Valid and its author's word unless said otherwise. */
  readonly as?: 'rejected' | 'witness'
  /** A parent is named that is not here. */
  readonly isShallow?: boolean
}

/** The agents of a test: each is known by its name and by another one. */
export const testAgents: readonly string[] = ['ann', 'bob', 'cyd', 'dee']

/** Returns a graph of revisions as the walk would load it, without a store, and who trusts what. */
export function graphOf(revisions: readonly TestRevision[]): {
  readonly graph: LoadedGraph
  readonly trust: Trust
  readonly cids: readonly CidText[]
} {
  const cids = revisions.map((_, i) => cidOf(`entry ${i}`))
  const numbers = new CidTable()
  const entries = new EntryTable(numbers)
  const bodies = new BodyTable(numbers)
  for (const [i, revision] of revisions.entries()) {
    const { author, name, parents, isShallow = false } = revision
    const body = cidOf(`body ${i}`)
    const links = parents.map((parent) => cids[parent]!)
    const fields = { author, body, cid: cids[i]!, kind: 'envelope', name, parents: links }
    const shallow = isShallow ? ['elsewhere'] : []
    const signed = { signer: `did:${author}`, store: cidOf('store'), roster: cidOf('store') }
    const entry = { ...fields, ...signed, prev: [], refs: [], seq: 1, shallow, stream: 'csag:w' }
    const more = { artifacts: undefined, source: undefined, witness: revision.as === 'witness' }
    entries.add({ ...entry, ...more } as unknown as VerifiedEntry)
    const facts = findEnvelopeFacts(documentOf(revision), bodies.records)!
    bodies.set(body, { kind: 'envelope', facts })
  }
  const graph: LoadedGraph = {
    entries,
    bodies,
    lists: new Map(),
    artifacts: new Map(),
    sources: new Map(),
    before: new Set(),
    damage: [],
    counts: { entries: 0, blocks: 0, signatures: 0, artifacts: 0 },
  }
  const rejected = new Set(cids.filter((_, i) => revisions[i]!.as === 'rejected'))
  const trust = {
    roster: { agents: testAgents.map((id) => ({ id, aliases: [`${id}-too`] })) },
    standingOf: ({ cid }: VerifiedEntry) => ({
      standing: rejected.has(cid) ? 'rejected' : 'valid',
    }),
  } as unknown as Trust
  return { graph, trust, cids }
}

/** Returns the document of a revision, as far as attribution reads it. */
export function documentOf({ name, author, records }: TestRevision): { [key: string]: JsonForm } {
  const list = (wanted: string): JsonForm[] =>
    records.filter(({ kind }) => kind === wanted).map(({ kind: _kind, ...fields }) => fields)
  return {
    id: 'w',
    revision: name,
    created_by: author,
    current_heads: [name],
    assessments: list('assessment'),
    actions: list('action'),
    executions: list('execution'),
    conflicts: list('conflict'),
  }
}

function cidOf(text: string): CidText {
  return cidTextOf(new TextEncoder().encode(text), 'dag-json')
}
