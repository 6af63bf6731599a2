import fs from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { csagRules } from '../../../src/rules/csag-rules.ts'
import { runCase } from './run-case.ts'
import type { CasesFile } from './run-case.ts'

const folder = fileURLToPath(new URL('../../../fixtures/csag-cases', import.meta.url))

function readCases(name: string): CasesFile {
  return JSON.parse(fs.readFileSync(`${folder}/${name}.json`, 'utf8')) as CasesFile
}

const tripped = new Set<string>()

describe.each(['rules', 'divergences', 'matches', 'traps'])('csag cases: %s', (name) => {
  const file = readCases(name)

  it.each(file.cases.map((one) => [one.name, one] as const))('%s', async (_, one) => {
    const { verdict, judged } = await runCase(folder, file, one)
    expect(verdict).toEqual(one.hstore ?? one.expected)
    for (const { code, schemaCode } of [
      ...judged.judgement.findings,
      ...judged.judgement.advisories,
    ]) {
      tripped.add(code)
      if (schemaCode !== undefined) tripped.add(schemaCode)
    }
  })

  it('accepts nothing that upstream refuses', () => {
    for (const { hstore, expected, divergence } of file.cases) {
      if (hstore === undefined) continue
      expect(divergence).toMatch(/^D-(0[1-9]|1[0-2])$/)
      expect(hstore.ok && !expected.ok).toBe(false)
    }
  })
})

describe('csag rules', () => {
  it('are each tripped by a case', () => {
    const cut = ['HS4103']
    const codes = csagRules.map((rule) => rule.code).filter((code) => !cut.includes(code))
    expect(codes.filter((code) => !tripped.has(code))).toEqual([])
  })

  it('have each a row in the table', () => {
    const codes = new Set(csagRules.map((rule) => rule.code))
    expect([...tripped].filter((code) => !codes.has(code))).toEqual([])
    expect(codes.size).toBe(csagRules.length)
  })
})
