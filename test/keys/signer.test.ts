import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseDidKey } from '../../keys/did-key.ts'
import { verify } from '../../keys/ed25519.ts'
import { createKeyFile } from '../../keys/key-file.ts'
import { openSigner, signerOfSeed } from '../../keys/signer.ts'
import { codeOf, codeOfPromise, tempFolder } from './support.ts'

const seed = new Uint8Array(32).fill(7)
const message = new Uint8Array(100).fill(1)

describe('signerOfSeed', () => {
  it('signs for its own did', () => {
    const signer = signerOfSeed(seed)
    expect(parseDidKey(signer.did)).toEqual(signer.publicKey)
    expect(verify(signer.sign(message), message, signer.publicKey)).toBe(true)
    expect(signer.level).toBe('file')
  })

  it('refuses a seed of another length', () => {
    expect(codeOf(() => signerOfSeed(new Uint8Array(64)))).toBe('HSTORE_KEY_INVALID')
  })
})

describe('openSigner', () => {
  it('signs as the seed does', async () => {
    const path = join(await tempFolder(), 'a.pem')
    await createKeyFile(path, seed, 'p')
    const signer = await openSigner(path, 'p')
    expect(signer.did).toBe(signerOfSeed(seed).did)
    expect(signer.sign(message)).toEqual(signerOfSeed(seed).sign(message))
    expect(await codeOfPromise(openSigner(path, undefined))).toBe('HSTORE_PASSPHRASE_NEEDED')
    expect(await codeOfPromise(openSigner(`${path}x`, 'p'))).toBe('HSTORE_KEY_NOT_FOUND')
  })
})
