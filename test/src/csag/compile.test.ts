import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { rules } from '../../../src/rules/table.ts'

const compiler = fileURLToPath(new URL('../../../src/contracts/csag/compile.js', import.meta.url))

describe('the generated validators', () => {
  it('import nothing and are the same each time', () => {
    const out = fs.mkdtempSync(path.join(tmpdir(), 'csag-'))
    try {
      execFileSync(process.execPath, [compiler, '--out', out])
      const generated = path.join(path.dirname(compiler), 'generated')
      expect(fs.readdirSync(out).toSorted()).toEqual(['handoff.js', 'paper.js'])
      for (const name of fs.readdirSync(out)) {
        const code = fs.readFileSync(path.join(out, name), 'utf8')
        expect(code).not.toMatch(/\bimport\b|\brequire\(/)
        expect(code).toBe(fs.readFileSync(path.join(generated, name), 'utf8'))
      }
    } finally {
      fs.rmSync(out, { recursive: true, force: true })
    }
  })
})

describe('the table of rules', () => {
  it('has each code once', () => {
    expect(new Set(rules.map((rule) => rule.code)).size).toBe(rules.length)
    expect(rules.length).toBeGreaterThan(61)
    expect(rules.find(({ code }) => code === 'CSAG-H-012')).toMatchObject({
      slug: 'artifact-digest',
      severity: 'error',
    })
  })
})
