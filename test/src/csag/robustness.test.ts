import * as fc from 'fast-check'
import fs from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openDirectoryBundle } from '../../../src/contracts/csag/directory-bundle.ts'
import { validateHandoff } from '../../../src/contracts/csag/handoff.ts'
import { parseLocator } from '../../../src/contracts/csag/locator.ts'
import { formatReport, makeReport } from '../../../src/contracts/csag/report.ts'
import { csagRules } from '../../../src/rules/csag-rules.ts'
import { mutateTree } from '../../fuzz/mutate-tree.ts'
import { copyBundle, readEnvelope } from './bundle-copy.ts'

const codes = new Set(csagRules.map((rule) => rule.code))
describe('any envelope', () => {
  it('gets a verdict with findings of the table, and the same one again', async () => {
    using copy = copyBundle()
    const steps = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat()), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(steps, async (mutations) => {
        const document = readEnvelope()
        for (const step of mutations) mutateTree(document, step)
        const bytes = new TextEncoder().encode(JSON.stringify(document))
        const judge = async (): Promise<string> => {
          const bundle = await openDirectoryBundle(copy.directory)
          const judgement = await validateHandoff(bytes, bundle)
          expect(judgement.ok).toBe(judgement.findings.length === 0)
          for (const finding of judgement.findings) {
            expect(codes.has(finding.code)).toBe(true)
            expect(finding.path).toMatch(/^handoff(?:[.[]|$)/)
            expect(finding.message).toMatch(/^[^\p{Cc}\p{Surrogate}]+$/u)
          }
          return formatReport(makeReport(judgement, copy.directory))
        }
        expect(await judge()).toBe(await judge())
      }),
      { seed: 20260301, numRuns: 400 },
    )
  })

  it('with any bytes gets a verdict', async () => {
    using copy = copyBundle()
    const bundle = await openDirectoryBundle(copy.directory)
    const text = fs.readFileSync(copy.envelope)
    await fc.assert(
      fc.asyncProperty(
        fc.nat(text.length - 1),
        fc.uint8Array({ maxLength: 3 }),
        async (at, put) => {
          const bytes = new Uint8Array([...text.subarray(0, at), ...put, ...text.subarray(at + 1)])
          const { findings, ok } = await validateHandoff(bytes, bundle)
          expect(ok).toBe(findings.length === 0)
        },
      ),
      { seed: 20260301, numRuns: 400 },
    )
  })
})

describe('any locator', () => {
  it('is remote, refused, or a path without dots that stays inside', () => {
    const part = fc.constantFrom(
      'a',
      '..',
      '.',
      '/',
      '//',
      '~',
      ':',
      '%2e',
      '%2F',
      '%00',
      '?',
      '#',
      '\\',
    )
    const text = fc.oneof(
      fc.array(part).map((parts) => parts.join('')),
      fc.string(),
    )
    fc.assert(
      fc.property(text, (locator) => {
        const answer = parseLocator(locator)
        if (answer.kind !== 'local') return
        let depth = 0
        for (const segment of answer.segments) {
          expect(segment).not.toMatch(/^\.?$|[/\0]/)
          depth += segment === '..' ? -1 : 1
          expect(depth).toBeGreaterThanOrEqual(0)
        }
      }),
      { seed: 20260301, numRuns: 2000 },
    )
  })
})
