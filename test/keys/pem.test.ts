import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatPem, parseBase64, parsePem } from '../../keys/pem.ts'
import { codeOf } from './support.ts'

const bytes = Uint8Array.from({ length: 100 }, (_, i) => i)
const good = formatPem('PRIVATE KEY', bytes)

describe('parsePem', () => {
  it('reads back what formatPem writes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (content) => {
        expect(parsePem(formatPem('X 1', content))).toEqual({ label: 'X 1', bytes: content })
      }),
    )
  })

  it('takes bytes, CRLF, no line end at the end, and several', () => {
    const forms = [Buffer.from(good), good.replaceAll('\n', '\r\n'), good.trimEnd(), `${good}\n\n`]
    for (const form of forms) expect(parsePem(form)).toEqual({ label: 'PRIVATE KEY', bytes })
  })

  it.each([
    ['nothing', ''],
    ['text in front', `key:\n${good}`],
    ['a space in front', ` ${good}`],
    ['a byte order mark', `\ufeff${good}`],
    ['text behind', `${good}more`],
    ['a second block', good + good],
    ['another end', good.replace('END PRIVATE', 'END PUBLIC')],
    ['no end', good.slice(0, 60)],
    ['headers', good.replace('\n', '\nProc-Type: 4,ENCRYPTED\n\n')],
    ['an empty line', good.replace('\n', '\n\n')],
    ['a space inside', good.replace('AAEC', 'AA EC')],
    ['another letter', good.replace('AAEC', 'AA*C')],
    ['a base64url letter', good.replace('AAEC', 'AA-C')],
    ['a letter cut', good.replace('AAEC', 'AAE')],
    ['an equals sign inside', good.replace('AAEC', 'AAE=')],
    ['small letters', good.replaceAll('PRIVATE', 'private')],
    ['a public key line', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA== x'],
    ['more than 64 KiB', formatPem('PRIVATE KEY', new Uint8Array(50_000))],
  ])('refuses %s', (_, text) => {
    expect(codeOf(() => parsePem(text))).toBe('HSTORE_KEY_INVALID')
    expect(codeOf(() => parsePem(Buffer.from(text)))).toBe('HSTORE_KEY_INVALID')
  })
})

describe('parseBase64', () => {
  it.each(['A', 'AA', 'AAA', 'AB==', 'AAB=', 'A===', '====', 'AA==AA==', 'AA= =', 'AA==\n'])(
    'refuses %j',
    (text) => {
      expect(parseBase64(text)).toBeUndefined()
    },
  )

  it.each(['', 'AA==', 'AAA=', 'AAAA', '+/+/'])('takes %j', (text) => {
    expect(Buffer.from(parseBase64(text)!).toString('base64')).toBe(text)
  })
})
