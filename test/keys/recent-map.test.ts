import { describe, expect, it } from 'vitest'
import { RecentMap } from '../../src/kernel/recent-map.ts'

describe('RecentMap', () => {
  it('never holds more than its limit, and keeps what is used', () => {
    const map = new RecentMap<number>(8)
    map.set('used', -1)
    for (let i = 0; i < 1000; i++) {
      map.set(`${i}`, i)
      expect(map.get('used')).toBe(-1)
      expect(map.get(`${i}`)).toBe(i)
      expect(map.size).toBeLessThanOrEqual(8)
    }
    expect(map.get('0')).toBeUndefined()
  })

  it('gives undefined for names that every object has', () => {
    const map = new RecentMap<number>(8)
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect(map.get(name)).toBeUndefined()
  })
})
