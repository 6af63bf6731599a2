import { existsSync } from 'node:fs'
import path from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { describeBlockCases } from './support/case-blocks.ts'
import { describeEntryCases } from './support/case-entries.ts'
import { describeKeyCases } from './support/case-keys.ts'
import { describeTrustCases } from './support/case-trust.ts'
import { describeLaneCases } from './support/case-lanes.ts'
import { describeSyncCases } from './support/case-sync.ts'

const vectors = process.env['HSTORE_VECTORS']
const folder =
  vectors === undefined || vectors === '' ? undefined : path.resolve(vectors, '../cases')

if (folder === undefined || vectors === undefined || !existsSync(folder)) {
  describe('handed cases', () => {
    it('are none', () => {
      console.log('cases: 0 run, none given')
      expect(folder === undefined || !existsSync(folder)).toBe(true)
    })
  })
} else {
  const given = { cases: folder, vectors: path.resolve(vectors) }
  const run = new Set<string>()
  afterEach(({ task }) => {
    run.add(task.suite?.name.slice(0, 3) ?? '')
  })
  afterAll(() => console.log(`cases: ${run.size} run`))
  describe('handed cases', () => {
    describeBlockCases(given)
    describeKeyCases(given)
    describeEntryCases(given)
    describeTrustCases(given)
    describeLaneCases()
    describeSyncCases(given)
  })
}
