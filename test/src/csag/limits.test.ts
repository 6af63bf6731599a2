import { describe, expect, it } from 'vitest'
import type { HandoffEnvelope } from '../../../src/contracts/csag/document.ts'
import { MAX_FINDINGS } from '../../../src/contracts/csag/finding.ts'
import {
  judgeResolved,
  validateHandoff,
  validateHandoffDocument,
} from '../../../src/contracts/csag/handoff.ts'
import { resolveRemote } from '../../../src/contracts/csag/resolve.ts'
import { makeVirtualBundle } from '../../../src/contracts/csag/virtual-bundle.ts'
import { readEnvelope } from './bundle-copy.ts'

const nothing = makeVirtualBundle(new Map())

/** The worked envelope with all its files elsewhere. */
function remoteEnvelope(): HandoffEnvelope {
  const away = (locator: string): string => `https://example.org/${locator}`
  return JSON.parse(JSON.stringify(readEnvelope()), (key, value: unknown) =>
    (key === 'artifact_path' || key === 'environment') && typeof value === 'string'
      ? away(value)
      : value,
  ) as HandoffEnvelope
}

async function codesOf(document: unknown): Promise<string[]> {
  const { findings } = await validateHandoffDocument(document, nothing)
  return findings.map((finding) => finding.code)
}

describe('large envelopes', () => {
  it('with a chain of 50,000 actions are judged', async () => {
    const envelope = remoteEnvelope()
    const action = envelope.actions?.[3]
    if (action === undefined) throw new Error('wanted the worked envelope')
    const count = 50_000
    const chain = Array.from({ length: count }, (_, i) => ({
      ...action,
      id: `chain-${i}`,
      dependencies: i + 1 < count ? [`chain-${i + 1}`] : [],
    }))
    const actions = [...(envelope.actions ?? []), ...chain]
    expect(await codesOf({ ...envelope, actions })).toEqual([])
    const last = { ...chain.at(-1), dependencies: ['chain-0'] }
    const round = [...actions.slice(0, -1), last]
    expect(await codesOf({ ...envelope, actions: round })).toEqual(['CSAG-H-029'])
  })

  it('take time in proportion to their lists', async () => {
    const envelope = remoteEnvelope()
    const [record] = envelope.source_artifacts
    const time = async (count: number): Promise<number> => {
      const texts = Array.from({ length: count }, (_, i) => `text-${i}`)
      const document = {
        ...envelope,
        parents: texts,
        current_heads: [envelope.revision, ...texts],
        source_artifacts: Array.from({ length: count }, (_, i) => ({
          ...record,
          id: `record-${i}`,
          artifact_path: `https://example.org/${i % 9}`,
          sha256: (i % 7).toString().repeat(64),
        })),
        assessments: [{ ...envelope.assessments?.[0], basis_artifacts: texts }],
        conflicts: [{ ...envelope.conflicts?.[0], competing_heads: texts }],
      }
      const began = performance.now()
      const { findings } = await validateHandoffDocument(document, nothing)
      expect(findings.length).toBeGreaterThan(Math.min(count, MAX_FINDINGS - 1))
      return performance.now() - began
    }
    await time(1000)
    const small = Math.min(await time(5000), await time(5000), await time(5000))
    const large = await time(100_000)
    expect(large).toBeLessThan(small * 20 * 8)
  })

  it('with more than 10,000 schema findings are cut and say so', async () => {
    const envelope = { ...remoteEnvelope(), actions: Array.from({ length: 200_000 }, () => ({})) }
    const began = performance.now()
    const judgement = await validateHandoffDocument(envelope, nothing)
    expect(judgement.findings).toHaveLength(MAX_FINDINGS)
    expect(judgement.advisories.map((finding) => finding.code)).toEqual(['HS4103'])
    expect(performance.now() - began).toBeLessThan(20_000)
  })

  it('with more than 10,000 findings of the rules are cut and say so', async () => {
    const envelope = remoteEnvelope()
    const dependencies = Array.from({ length: 200_000 }, (_, i) => `none-${i}`)
    const actions = [{ ...envelope.actions?.[0], dependencies }]
    const judgement = await validateHandoffDocument({ ...envelope, actions }, nothing)
    expect(judgement.ok).toBe(false)
    expect(judgement.findings).toHaveLength(MAX_FINDINGS)
    expect(judgement.advisories.map((finding) => finding.code)).toEqual(['HS4103'])
  })

  it('with a locator of a million segments are judged', async () => {
    const envelope = readEnvelope()
    const [record] = envelope.source_artifacts
    const long = { ...record, id: 'x', artifact_path: 'a/../'.repeat(300_000) }
    const source_artifacts = [...envelope.source_artifacts, long]
    expect(await codesOf({ ...envelope, source_artifacts })).toContain('CSAG-H-011')
  })
})

describe('an envelope whose files are elsewhere', () => {
  it('is judged without a wait', () => {
    const envelope = remoteEnvelope()
    const resolved = resolveRemote(envelope)
    if (resolved === undefined) throw new Error('wanted no local file')
    const judgement = judgeResolved(envelope, resolved, undefined)
    expect(judgement).toMatchObject({ ok: true, localFiles: [], inputs: [], advisories: [] })
    expect(resolveRemote(readEnvelope())).toBeUndefined()
  })

  it('keeps the file as it was read for the form of a block', async () => {
    const bytes = new TextEncoder().encode(JSON.stringify(remoteEnvelope()))
    const judgement = await validateHandoff(bytes, nothing)
    expect(judgement.input?.value).toBe(judgement.document)
    expect(judgement.document?.revision).toBe('ice:handoff/drift/R2')
  })

  it('is told about locators that only look local', async () => {
    const envelope = remoteEnvelope()
    const odd = ['//host/x', 'C:\\x', 'notes:today.md', 'data:,x', 'doi:10.1/x', 'urn:x:y']
    const [record] = envelope.source_artifacts
    const more = odd.map((locator, i) => ({ ...record, id: `odd-${i}`, artifact_path: locator }))
    const source_artifacts = [...envelope.source_artifacts, ...more]
    const judgement = await validateHandoffDocument({ ...envelope, source_artifacts }, nothing)
    expect(judgement.ok).toBe(true)
    expect(judgement.advisories.map(({ code, path }) => [code, path])).toEqual(
      [5, 6, 7, 8].map((i) => ['HS4101', `handoff.source_artifacts[${i}].artifact_path`]),
    )
  })
})
