import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { drive } from './drive.ts'
import { makeTargets } from './targets/all.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const seed = 20_260_401
const total = process.env['HSTORE_SOAK'] ? 1_100_000 : 9000
const targets = await makeTargets(root, process.env['HSTORE_VECTORS'])
const shares = targets.reduce((sum, { share }) => sum + share, 0)

describe(`hostile input (seed ${seed})`, () => {
  for (const target of targets) {
    const count = Math.ceil((total * target.share) / shares)
    it(`${target.name}: ${count} mutants are taken or refused`, async () => {
      const { faults, verdicts } = await drive(target, seed, count)
      expect(faults).toEqual([])
      expect(Object.keys(verdicts).length).toBeGreaterThan(1)
    })
  }
})
