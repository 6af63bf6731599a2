import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDirectoryBundle } from '../../src/contracts/csag/directory-bundle.ts'
import { validateHandoff } from '../../src/contracts/csag/handoff.ts'
import { historyBundle, historyFiles, historyWorkspace } from '../support/history.ts'

interface Artifact {
  id: string
  artifact_path: string
  artifact_role: string
  sha256: string
  byte_size: number
}
interface Named {
  id: string
  created_by: string
}
type Origin = Named & Record<string, unknown>
interface Execution extends Origin {
  action_ref: string
  environment: string
  execution_status: string
  inputs: Artifact[]
  outputs: Artifact[]
}
interface Action extends Origin {
  owner: string
  action_status: string
  acceptance_criteria: string[]
  dependencies?: string[]
}
interface Report {
  inputs: Record<string, { path: string; sha256: string }>
}
interface Envelope extends Named {
  revision: string
  parents: string[]
  current_heads: string[]
  source_artifacts: Artifact[]
  assessments: (Origin & { assessment_status: string })[]
  actions: Action[]
  executions: Execution[]
  conflicts: (Origin & { conflict_status: string; competing_heads: string[] })[]
}

const read = (name: string): Buffer => readFileSync(path.join(historyBundle, name))
const json = (name: string): unknown => JSON.parse(read(name).toString('utf8'))
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const envelopes = historyFiles.map(({ file }) => json(path.basename(file)) as Envelope)
const [r1, r2a, r2b, r3] = envelopes as [Envelope, Envelope, Envelope, Envelope]

const artifactsOf = (envelope: Envelope): Artifact[] => [
  ...envelope.source_artifacts,
  ...envelope.executions.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]),
]

const recordsOf = (envelope: Envelope): Origin[] => [
  ...envelope.assessments,
  ...envelope.actions,
  ...envelope.executions,
  ...envelope.conflicts,
]

describe('the history in fixtures/', () => {
  it('forks after its first revision and merges in its third', () => {
    const names = historyFiles.map(({ revision }) => revision)
    expect(envelopes.map(({ revision }) => revision)).toEqual(names)
    expect(envelopes.map(({ created_by }) => created_by)).toEqual(
      historyFiles.map(({ agent }) => agent),
    )
    expect(new Set(envelopes.map(({ id }) => id))).toEqual(new Set([historyWorkspace]))
    expect(envelopes.map(({ parents }) => parents)).toEqual([
      [],
      [r1.revision],
      [r1.revision],
      [r2a.revision, r2b.revision],
    ])
  })

  it('claims the heads that are there when each revision is put in order', () => {
    const heads = new Set<string>()
    for (const envelope of envelopes) {
      for (const parent of envelope.parents) heads.delete(parent)
      heads.add(envelope.revision)
      expect(envelope.current_heads).toEqual([...heads])
    }
  })

  it('names both heads in one conflict, open in the fork and resolved in the merge', () => {
    expect(r1.conflicts).toEqual([])
    expect(r2a.conflicts).toEqual([])
    expect(r2b.conflicts).toMatchObject([{ conflict_status: 'open' }])
    expect(r3.conflicts).toMatchObject([
      {
        id: r2b.conflicts[0]?.id,
        conflict_status: 'resolved',
        competing_heads: [r2a.revision, r2b.revision],
        resolved_by_head: r3.revision,
      },
    ])
  })

  it('leaves one action, ready for agent-a', () => {
    const open = r3.actions.filter(({ action_status }) => action_status !== 'completed')
    expect(open).toMatchObject([{ owner: 'csag:agent/agent-a', action_status: 'ready' }])
    expect(open[0]?.acceptance_criteria.length).toBeGreaterThan(0)
  })

  it('has one canonical file; the others need normalising', () => {
    const canonical = historyFiles.filter(({ file }) => {
      const text = read(path.basename(file)).toString('utf8')
      return text === sorted(JSON.parse(text))
    })
    expect(canonical.map(({ revision }) => revision)).toEqual([r2b.revision])
  })

  it('quotes the source where the text spans of the paper say', () => {
    const source = read('source.md').toString('utf8')
    const spans = JSON.stringify(json('paper.json')).matchAll(
      /"start_char":(\d+),"end_char":(\d+),"exact_text":("[^"]*")/g,
    )
    const quotes = [...spans]
    expect(quotes).toHaveLength(4)
    for (const [, start, end, text] of quotes) {
      expect(source.slice(Number(start), Number(end))).toBe(JSON.parse(text ?? ''))
    }
  })
})

describe.each(historyFiles)('$revision', ({ file }) => {
  const envelope = json(path.basename(file)) as Envelope

  it('is accepted by the handoff profile, with every file verified', async () => {
    const bundle = await openDirectoryBundle(historyBundle)
    const judgement = await validateHandoff(read(path.basename(file)), bundle)
    expect(judgement).toMatchObject({ ok: true, findings: [], advisories: [] })
    const declared = artifactsOf(envelope).map(({ artifact_path }) => artifact_path)
    expect(judgement.inputs).toHaveLength(new Set([...declared, 'environment.lock']).size)
  })

  it('gives size and digest of every artifact', () => {
    expect(artifactsOf(envelope).length).toBeGreaterThan(4)
    for (const { artifact_path, byte_size, ...record } of artifactsOf(envelope)) {
      const bytes = read(decodeURIComponent(artifact_path))
      expect([artifact_path, bytes.length, sha256(bytes)]).toEqual([
        artifact_path,
        byte_size,
        record.sha256,
      ])
    }
  })

  it('gives the digest of every lockfile', () => {
    for (const { environment } of envelope.executions) {
      const [name, digest] = environment.split('#sha256=')
      expect(sha256(read(name ?? ''))).toBe(digest)
    }
  })

  it('has reports that are fresh and name its paper', () => {
    const paper = envelope.source_artifacts.find((a) => a.artifact_role === 'paper_extraction')
    const reports = artifactsOf(envelope).filter((a) => a.artifact_role.endsWith('_report'))
    expect(reports.map((a) => a.artifact_role)).toContain('validation_report')
    for (const { artifact_path } of reports) {
      const { inputs } = json(artifact_path) as Report
      expect(inputs['extraction']?.sha256).toBe(paper?.sha256)
      for (const input of Object.values(inputs)) {
        const from = path.join(path.dirname(artifact_path), input.path)
        expect([from, sha256(read(from))]).toEqual([from, input.sha256])
      }
    }
  })

  it('uses each id once and no reference that leads nowhere', () => {
    const ids = [envelope, ...recordsOf(envelope), ...artifactsOf(envelope)].map(({ id }) => id)
    expect(ids).toHaveLength(new Set(ids).size)
    const lists = ['dependencies', 'basis_artifacts', 'basis_executions']
    const named = recordsOf(envelope).flatMap((record) =>
      lists.flatMap((list) => (record[list] as string[] | undefined) ?? []),
    )
    const refs = [...named, ...envelope.executions.map(({ action_ref }) => action_ref)]
    expect(refs.filter((ref) => !ids.includes(ref))).toEqual([])
  })
})

/** Fields that somebody other than the creator may change, by what the id says the record is. */
const stateFields: Readonly<Record<string, readonly string[]>> = {
  assessment: ['assessment_status'],
  action: ['action_status'],
  execution: ['execution_status', 'started_on', 'completed_on', 'execution_outcome', 'outputs'],
  conflict: ['conflict_status', 'resolution', 'resolved_by_head'],
}
const kindOf = (record: Origin): string => record.id.split('/').at(-2) ?? ''
const originOf = (record: Origin): string =>
  sorted(
    Object.fromEntries(
      Object.entries(record).filter(([key]) => !stateFields[kindOf(record)]?.includes(key)),
    ),
  )
const stateOf = (record: Origin): string =>
  sorted(stateFields[kindOf(record)]?.map((field) => record[field] ?? null))

describe.each([
  ['R0001', 'R0002-agent-a', r1, r2a, ['action/AC0002']],
  ['R0001', 'R0002-agent-b', r1, r2b, ['action/AC0003']],
  ['R0002-agent-a', 'R0003', r2a, r3, ['action/AC0003', 'assessment/AS0002']],
  ['R0002-agent-b', 'R0003', r2b, r3, ['action/AC0002', 'conflict/CF0001']],
])('from %s to %s', (_before, _after, before, after, changes) => {
  const earlier = recordsOf(before)
  const later = new Map(recordsOf(after).map((record) => [record.id, record]))

  it('keeps every record and what its creator said', () => {
    for (const record of earlier) {
      const kept = later.get(record.id)
      expect(kept === undefined ? record.id : originOf(kept)).toBe(originOf(record))
    }
  })

  it(`changes the state of ${changes.join(', ')} only, where the author may`, () => {
    const changed = earlier.filter((record) => {
      const kept = later.get(record.id)
      return kept !== undefined && stateOf(kept) !== stateOf(record)
    })
    expect(changed.map(({ id }) => id.slice(historyWorkspace.length + 1)).toSorted()).toEqual(
      changes,
    )
    for (const record of changed) {
      const kept = later.get(record.id) ?? record
      const mayChange =
        [record.created_by, record['owner']].includes(after.created_by) ||
        kept['resolved_by_head'] === after.revision ||
        kept['assessment_status'] === 'superseded' ||
        isFromTheFork(kept)
      expect([record.id, mayChange]).toEqual([record.id, true])
    }
  })
})

/** True where a head of the fork already had the record in this state. */
function isFromTheFork(record: Origin): boolean {
  return [r2a, r2b].some((head) =>
    recordsOf(head).some((there) => there.id === record.id && stateOf(there) === stateOf(record)),
  )
}

describe('records of one author', () => {
  it('are new in a revision by that author', () => {
    for (const envelope of envelopes) {
      const known = envelopes
        .filter(({ revision }) => envelope.parents.includes(revision))
        .flatMap(recordsOf)
        .map(({ id }) => id)
      for (const record of recordsOf(envelope)) {
        if (!known.includes(record.id)) expect(record.created_by).toBe(envelope.created_by)
      }
    }
  })
})

function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).sort(([a], [b]) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  )
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${sorted(member)}`).join(',')}}`
}
