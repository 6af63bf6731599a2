import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { CidSet } from '../../store/cid-set.ts'
import type { Codec } from '../../store/cid-text.ts'
import { cidTextOf } from '../../store/cid-text.ts'

it('has what a Set of texts has, in its order, and sorted as texts are', () => {
  const cids = fc
    .tuple(fc.nat({ max: 500 }), fc.constantFrom<Codec>('dag-json', 'raw'))
    .map(([n, codec]) => cidTextOf(Buffer.from(String(n)), codec))
  fc.assert(
    fc.property(fc.array(cids, { maxLength: 400 }), cids, (given, other) => {
      const set = new CidSet()
      for (const cid of given) set.add(cid)
      const wanted = new Set(given)
      expect([...set]).toEqual([...wanted])
      expect(set.size).toBe(wanted.size)
      expect(set.has(other)).toBe(wanted.has(other))
      expect([...set.sorted()]).toEqual([...wanted].sort())
    }),
  )
})
