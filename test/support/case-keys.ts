import { readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatDidKey } from '../../keys/did-key.ts'
import { verifyPortable } from '../../keys/ed25519-portable.ts'
import { verify } from '../../keys/ed25519.ts'
import { parseOpenSSHKey } from '../../keys/openssh.ts'
import type { Given } from './given-cases.ts'
import { bytesIn, valueIn } from './given-cases.ts'
import { envelopeOf } from './envelope.ts'
import { json, makeTestStore, ok } from './store.ts'
import { makeTempFolder } from './temp-folder.ts'

interface Edge {
  readonly message: string
  readonly pub_key: string
  readonly signature: string
  readonly valid: boolean
}

/** The cases of keys and signatures: r34, r36, r38. */
export function describeKeyCases(given: Given): void {
  describe('r34: a public key that begins with a zero byte', () => {
    const id = 'r34-public-key-leading-zero'
    const { did, publicKeyHex } = valueIn<{ did: string; publicKeyHex: string }>(
      given,
      id,
      'expected.json',
    )
    it('is read whole', () => {
      const { publicKey } = parseOpenSSHKey(bytesIn(given, id, 'id_ed25519'))
      expect(Buffer.from(publicKey).toString('hex')).toBe(publicKeyHex)
      expect(formatDidKey(publicKey)).toBe(did)
    })
    it('signs, verifies, and comes out as it went in', async () => {
      const store = await makeTestStore(await makeTempFolder())
      const file = path.join(given.cases, id, 'id_ed25519')
      const imported = await ok(store.run('key', 'import', 'bot:zero', file, '--no-passphrase'))
      expect(imported.out.trim()).toBe(did)
      expect(json(await store.run('key', 'show', 'bot:zero', '--json'))).toMatchObject({ did })
      await ok(store.run('roster', 'add', 'bot:zero', did))
      const document = envelopeOf({ workspace: 'w', revision: 'R', author: 'bot:zero' })
      const cid = (
        await ok(store.runWith({ stdin: JSON.stringify(document) }, 'put', '-', '--as', 'bot:zero'))
      ).out.trim()
      expect((await store.run('verify', cid, '--full')).exit).toBe(0)
      const secret = (await ok(store.run('key', 'export', 'bot:zero', '--secret'))).out
      const { seed } = parseOpenSSHKey(bytesIn(given, id, 'id_ed25519'))
      expect(parseOpenSSHKey(secret).seed).toEqual(seed)
      const again = await ok(
        store.runWith({ stdin: secret }, 'key', 'import', 'bot:again', '-', '--no-passphrase'),
      )
      expect(again.out.trim()).toBe(did)
      const pub = (await ok(store.run('key', 'export', 'bot:zero'))).out.split(' ')[1]
      expect(Buffer.from(bytesIn(given, id, 'id_ed25519.pub')).toString()).toContain(pub)
    })
  })

  describe('r36: a comment that is not ASCII', () => {
    const id = 'r36-non-ascii-comment'
    const { did } = valueIn<{ did: string }>(given, id, 'expected.json')
    const files = readdirSync(path.join(given.cases, id)).filter((name) => !name.includes('.'))
    for (const name of files) {
      it(`does not stop the import: ${name}`, async () => {
        expect(formatDidKey(parseOpenSSHKey(bytesIn(given, id, name)).publicKey)).toBe(did)
        const store = await makeTestStore(await makeTempFolder())
        const file = path.join(given.cases, id, name)
        const imported = await ok(store.run('key', 'import', 'bot:x', file, '--no-passphrase'))
        expect(imported.out.trim()).toBe(did)
        for (const argv of [
          ['key', 'list'],
          ['key', 'show', 'bot:x'],
        ]) {
          const shown = await ok(store.run(...argv))
          expect(shown.out).toContain(did)
          expect(shown.out.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
        }
      })
    }
    it('is tried in three ways', () => expect(files).toHaveLength(3))
  })

  describe('r38: edge cases of Ed25519', () => {
    const edges = valueIn<readonly Edge[]>(given, 'r38-small-order-and-friends', 'cases.json')
    it('are false, twice, without an exception', () => {
      expect(edges.length).toBeGreaterThan(3)
      for (const { message, pub_key, signature } of edges) {
        const [sig, text, key] = [signature, message, pub_key].map(
          (hex) => new Uint8Array(Buffer.from(hex, 'hex')),
        )
        expect(verify(sig!, text!, key!)).toBe(false)
        expect(verifyPortable(sig!, text!, key!)).toBe(false)
      }
    })
  })
}
