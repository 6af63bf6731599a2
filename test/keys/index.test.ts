import { expect, it } from 'vitest'
import * as keys from '../../keys/index.ts'
import { HstoreError } from '../../src/kernel/errors.ts'

it('gives the names that docs promise, and works from signing to did:key', () => {
  const seed = new Uint8Array(32).fill(7)
  const body = keys.pae('text/plain', new Uint8Array(3))
  const { did, publicKey } = keys.signerOfSeed(seed)
  const signature = keys.sign(body, seed)
  expect(keys.verify(signature, body, keys.parseDidKey(did))).toBe(true)
  expect(keys.verifyPortable(signature, body, publicKey)).toBe(true)
  expect(keys.formatDidKey(publicKey)).toBe(did)
  const signing = 'pae sign signerOfSeed openSigner verify verifyPortable'
  const names = 'KeyError formatDidKey isDidKey parseDidKey'
  const files =
    'formatOpenSSHPublicKey formatOpenSSHKey parseOpenSSHKey parsePrivateKey formatPkcs8 formatSpki'
  const jwk = 'parseJwk privateJwk publicJwk'
  const expected = `${signing} ${names} ${files} ${jwk}`.split(' ')
  expect(Object.keys(keys).sort()).toEqual(expected.sort())
  expect(() => keys.parseOpenSSHKey('')).toThrow(HstoreError)
})
