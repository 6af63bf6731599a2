import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { TurnReport } from '../../../src/contracts/turns/validate.ts'
import { turnRules } from '../../../src/rules/turn-rules.ts'
import { describeTurnCase } from './describe-case.ts'
import { readExpected, runTurn } from './run-case.ts'

const home = fileURLToPath(new URL('../../../fixtures/turns', import.meta.url))
const cases = readdirSync(home, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `${home}/${name}`)
const tripped = new Set<string>()

for (const folder of cases) describeTurnCase(folder)

describe('the relays', () => {
  it.each(['turns', 'relay-graph'])('%s keep their bytes in a clone', (name) => {
    const file = new URL(`../../../fixtures/${name}/.gitattributes`, import.meta.url)
    expect(readFileSync(file, 'utf8')).toBe('* -text\n')
  })
})

describe('what M8Shift passes over', () => {
  it.each(cases)('%s', async (folder) => {
    const ran = await runTurn(folder, 'validate', '--all', '--json')
    if (ran.out === '') {
      const told = Array.from(ran.err.matchAll(/HS43\d\d/g), ([code]) => code)
      expect(told).toEqual(readExpected(folder).advisories)
      for (const code of told) tripped.add(code)
      return expect(ran.err).toContain('HSTORE_RELAY_INVALID')
    }
    const { advisories, findings } = JSON.parse(ran.out) as TurnReport
    expect(advisories.map(({ code }) => code)).toEqual(readExpected(folder).advisories)
    for (const { code } of advisories) tripped.add(code)
    for (const { check } of findings) tripped.add(check)
  })

  it('has a case for every rule, and a rule for every finding', () => {
    // those from HS4315 on are over the graph
    const isOfFiles = (code: string): boolean => code.startsWith('contract.') || code < 'HS4315'
    expect([...tripped].sort()).toEqual(
      turnRules
        .map(({ code }) => code)
        .filter(isOfFiles)
        .sort(),
    )
  })
})
