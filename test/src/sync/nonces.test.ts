import { describe, expect, it } from 'vitest'
import { Nonces } from '../../../src/sync/nonces.ts'

const of = (did: string, created: number, nonce: string) => ({ did, created, nonce })

describe('a nonce', () => {
  it('counts once for each key', () => {
    const nonces = new Nonces()
    expect(nonces.add(of('a', 100, 'x'), 100)).toBe('new')
    expect(nonces.add(of('a', 100, 'x'), 100)).toBe('repeated')
    expect(nonces.add(of('a', 100, 'x'), 400)).toBe('repeated')
    expect(nonces.add(of('b', 100, 'x'), 100)).toBe('new')
    expect(nonces.add(of('a', 100, 'y'), 100)).toBe('new')
  })

  it('is never forgotten while it may count, however many come of its key', () => {
    const nonces = new Nonces(3)
    for (const [i, nonce] of ['x', 'y', 'z'].entries())
      expect(nonces.add(of('a', 100 + i, nonce), 102)).toBe('new')
    expect(nonces.add(of('a', 103, 'w'), 103)).toBe('new')
    expect(nonces.add(of('a', 100, 'x'), 103)).toBe('full')
    expect(nonces.add(of('a', 102, 'z'), 103)).toBe('repeated')
    // more in one second than have room
    for (const nonce of ['1', '2', '3', '4', '5']) nonces.add(of('a', 110, nonce), 110)
    for (const nonce of ['1', '2', '3', '4', '5', '6'])
      expect(nonces.add(of('a', 110, nonce), 110)).not.toBe('new')
    expect(nonces.add(of('a', 111, '6'), 111)).toBe('new')
  })

  it('of one key never takes the room of another', () => {
    const nonces = new Nonces(3)
    nonces.add(of('a', 100, 'x'), 100)
    for (let i = 0; i < 1000; i++) nonces.add(of('b', 100 + (i % 200), `${i}`), 100)
    expect(nonces.add(of('a', 100, 'x'), 100)).toBe('repeated')
    expect(nonces.add(of('a', 101, 'y'), 101)).toBe('new')
  })

  it('gives its room back when it is too old to count', () => {
    const nonces = new Nonces(2)
    nonces.add(of('a', 100, 'x'), 100)
    nonces.add(of('a', 101, 'y'), 101)
    expect(nonces.add(of('a', 402, 'z'), 402)).toBe('new')
    expect(nonces.add(of('a', 401, 'w'), 402)).toBe('new')
  })
})
