import { expect, it } from 'vitest'
import { Pace } from '../../../src/sync/pace.ts'

const kib = 1024

it('gives small requests to a slow way, large ones to a quick one', () => {
  const pace = new Pace()
  expect(pace.sizeBytes).toBe(256 * kib)
  for (let i = 0; i < 9; i++) pace.note(pace.sizeBytes, 30_000)
  expect(pace.sizeBytes).toBe(64 * kib)
  // as much as is needed to say something of the way
  pace.note(1000, 1)
  expect(pace.sizeBytes).toBe(64 * kib)
  for (let i = 0; i < 9; i++) pace.note(pace.sizeBytes, 500)
  expect(pace.sizeBytes).toBe(4096 * kib)
})

it('waits for what goes at 1 KiB/s, and for a quick way not for as long', () => {
  const pace = new Pace()
  expect(pace.allowanceMs(256 * kib)).toBe(256_000)
  pace.note(64 * kib, 64_000)
  expect(pace.allowanceMs(64 * kib)).toBe(64_000)
  pace.note(1024 * kib, 1000)
  expect(pace.allowanceMs(4096 * kib)).toBe(64_000)
})
