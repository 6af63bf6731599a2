import { describe, expect, it } from 'vitest'
import { privateKeyOf, publicKeyOf } from '../../keys/ed25519.ts'
import { formatOpenSSHKey } from '../../keys/openssh.ts'
import { formatPkcs8 } from '../../keys/pkcs8.ts'
import { parsePrivateKey } from '../../keys/private-key.ts'
import { codeOf } from './support.ts'

const seed = new Uint8Array(32).fill(5)
const publicKey = publicKeyOf(seed)

describe('parsePrivateKey', () => {
  it('reads both forms', () => {
    const openssh = formatOpenSSHKey(seed, 'c')
    expect(parsePrivateKey(openssh)).toEqual({ seed, publicKey, comment: 'c' })
    expect(parsePrivateKey(formatPkcs8(seed))).toEqual({ seed, publicKey, comment: '' })
  })

  it('reads both under a passphrase', () => {
    const options = {
      format: 'pem',
      type: 'pkcs8',
      cipher: 'aes-256-cbc',
      passphrase: 'p',
    } as const
    const locked = privateKeyOf(seed).export(options)
    expect(parsePrivateKey(locked, 'p').seed).toEqual(seed)
    expect(codeOf(() => parsePrivateKey(locked))).toBe('HSTORE_PASSPHRASE_NEEDED')
    expect(codeOf(() => parsePrivateKey(locked, 'q'))).toBe('HSTORE_PASSPHRASE_WRONG')
  })

  it('refuses other files', () => {
    const text = formatPkcs8(seed).replaceAll('PRIVATE KEY', 'RSA PRIVATE KEY')
    expect(codeOf(() => parsePrivateKey(text))).toBe('HSTORE_KEY_INVALID')
  })
})
