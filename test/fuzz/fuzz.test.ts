import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { makeSharedFolder } from '../support/store.ts'
import { drive } from './drive.ts'
import { makeTargets } from './targets/all.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const seed = 20_260_401
const folder = await makeSharedFolder()
const targets = await makeTargets(root, process.env['HSTORE_VECTORS'], folder)
const mutants = targets.reduce((sum, { share }) => sum + share, 0) * 1000
const part = process.env['HSTORE_SOAK'] ? 1 : 6000 / mutants

describe(`hostile input (seed ${seed})`, () => {
  for (const target of targets) {
    const count = Math.max(100, Math.ceil(target.share * 1000 * part))
    it(`${target.name}: ${count} mutants are taken or refused`, async () => {
      const { faults, verdicts } = await drive(target, seed, count)
      expect(faults).toEqual([])
      expect(Object.keys(verdicts).length).toBeGreaterThan(1)
    })
  }
})
