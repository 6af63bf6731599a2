import { describe, expect, it } from 'vitest'
import { HandoffError } from '../../../src/errors.ts'
import { decodeEntry } from '../../../src/entry/decode.ts'
import { encodeForm } from '../../../store/canonical.ts'
import type { JsonForm } from '../../../store/canonical.ts'
import { cidTextOf } from '../../../store/cid-text.ts'

function refusalOf(payload: { [key: string]: JsonForm }): HandoffError {
  const bytes = encodeForm({ payload: { v: 1, ...payload }, sig: null })
  try {
    decodeEntry(cidTextOf(bytes, 'dag-json'), bytes)
  } catch (error) {
    if (error instanceof HandoffError) return error
    throw error
  }
  throw new Error('accepted')
}

describe('the refusal of an entry', () => {
  it('shows keys of others without what a terminal obeys', () => {
    const { message, details } = refusalOf({ 'rost\r\u001b[2J\u2028': 1 })
    expect(message).toContain(String.raw`/payload/rost\u000d\u001b[2J\u2028 is no key`)
    expect(message).not.toMatch(/[\p{Cc}\p{Zl}]/u)
    expect(details['faults']).toContainEqual({
      pointer: '/payload/rost\r\u001b[2J\u2028',
      message: 'is no key of an entry',
    })
  })

  it('shows a kind of others without line separators', () => {
    const { message } = refusalOf({ kind: 'e\u2028n', name: 'R', witness: true })
    expect(message).toContain(String.raw`/payload/name is not for e\u2028n`)
    expect(message).not.toMatch(/\p{Zl}/u)
  })

  it('names some of many faults and counts the others', () => {
    const keys = Array.from({ length: 5000 }, (_, i) => [`k${i}`, 0] as const)
    const { message, details } = refusalOf(Object.fromEntries(keys))
    expect(message.length).toBeLessThan(4000)
    expect(message).toMatch(/; and \d{4} more$/)
    expect((details['faults'] as unknown[]).length).toBeGreaterThan(5000)
  })
})
