import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { drive } from './drive.ts'
import { makeTargets } from './targets/all.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const seed = 20_260_401
const targets = await makeTargets(root, process.env['HSTORE_VECTORS'])
const mutants = targets.reduce((sum, { share }) => sum + share, 0) * 1000
const part = process.env['HSTORE_SOAK'] ? 1 : 9000 / mutants

describe(`hostile input (seed ${seed})`, () => {
  for (const target of targets) {
    const count = Math.ceil(target.share * 1000 * part)
    it(`${target.name}: ${count} mutants are taken or refused`, async () => {
      const { faults, verdicts } = await drive(target, seed, count)
      expect(faults).toEqual([])
      expect(Object.keys(verdicts).length).toBeGreaterThan(1)
    })
  }
})
