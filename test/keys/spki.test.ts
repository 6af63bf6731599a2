import { createPublicKey } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { privateKeyOf, publicKeyOf } from '../../keys/ed25519.ts'
import { parsePrivateKey } from '../../keys/private-key.ts'
import { formatPkcs8 } from '../../keys/pkcs8.ts'
import { formatSpki } from '../../keys/spki.ts'
import { ArgumentError } from '../../src/kernel/errors.ts'
import { bytesFromHex, codeOf, hasProgram, outputOf, tempFolder } from './support.ts'

const seed = bytesFromHex('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60')
const publicKey = publicKeyOf(seed)

it('is what node writes', () => {
  const key = createPublicKey(privateKeyOf(seed))
  expect(formatSpki(publicKey)).toBe(key.export({ format: 'pem', type: 'spki' }))
  expect(createPublicKey(formatSpki(publicKey)).equals(key)).toBe(true)
})

/** RFC 8410, section 10.1. */
it('is what the standard shows', () => {
  const shown = bytesFromHex('19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1')
  const line = 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE='
  expect(formatSpki(shown)).toBe(`-----BEGIN PUBLIC KEY-----\n${line}\n-----END PUBLIC KEY-----\n`)
})

it('is of no weak key, and no private one', () => {
  expect(codeOf(() => formatSpki(new Uint8Array(32)))).toBe('HSTORE_KEY_INVALID')
  expect(codeOf(() => formatSpki(publicKey.subarray(1)))).toBe('HSTORE_KEY_INVALID')
  expect(() => formatSpki(undefined as never)).toThrow(ArgumentError)
  expect(() => parsePrivateKey(formatSpki(publicKey))).toThrow('this is a public key')
})

describe.skipIf(!hasProgram('openssl', 'version'))('with openssl', () => {
  it('is what openssl makes of the private half, and reads', async () => {
    const folder = await tempFolder()
    const [shown, secret] = [join(folder, 'shown.pem'), join(folder, 'secret.pem')]
    await writeFile(shown, formatSpki(publicKey))
    await writeFile(secret, formatPkcs8(seed), { mode: 0o600 })
    expect(outputOf('openssl', 'pkey', '-in', secret, '-pubout')).toBe(formatSpki(publicKey))
    expect(outputOf('openssl', 'pkey', '-pubin', '-in', shown)).toBe(formatSpki(publicKey))
  })
})
