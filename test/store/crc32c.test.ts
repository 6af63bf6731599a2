import { describe, expect, it } from 'vitest'
import { crc32c, maskedCrc } from '../../store/crc32c.ts'

describe('crc32c', () => {
  it.each([
    ['32 zeros', new Uint8Array(32), 0x8a9136aa],
    ['32 bytes of 0xff', new Uint8Array(32).fill(0xff), 0x62a8ab43],
    ['0 to 31', Uint8Array.from({ length: 32 }, (_, i) => i), 0x46dd794e],
    ['31 to 0', Uint8Array.from({ length: 32 }, (_, i) => 31 - i), 0x113fdb5c],
  ])('of %s is that of RFC 3720, B.4', (_, bytes, crc) => {
    expect(crc32c(bytes)).toBe(crc)
    expect(crc32c(Uint8Array.of(1, ...bytes, 2), 1, 33)).toBe(crc)
  })
})

describe('maskedCrc', () => {
  it('turns right by 15 bits and adds, within 32 bits', () => {
    expect(maskedCrc(0)).toBe(0xa282ead8)
    expect(maskedCrc(0x8000)).toBe(0xa282ead9)
    expect(maskedCrc(0xffffffff)).toBe(0xa282ead7)
  })
})
