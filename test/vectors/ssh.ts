import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseOpenSSHPublicKey } from '../../keys/openssh-public.ts'
import { isSshSigned, parseSshSignature } from '../../keys/sshsig.ts'
import { verifySshSignature } from '../../src/ssh-signature.ts'
import { codeOf, readBytes, readIndex, verdictOf } from './read-index.ts'

interface AllowedCase {
  readonly name: string
  readonly file: string
  readonly principal: string
  readonly namespace: string
  readonly verifyTime: string | null
  readonly sig: string
  readonly msg: string
  readonly opensshVerdict: boolean
}

interface SignatureCase {
  readonly name: string
  readonly sig: string
  readonly msg: string
  readonly namespace: string
  readonly signer: string
  readonly expect: 'valid' | 'refuse' | 'policy'
}

/** 20250101000000Z as ms since 1970; now where no time was given. */
function msOf(time: string | null): number {
  if (time === null) return Date.now()
  const [, y, m, d, h, min, s] = /^(....)(..)(..)(..)(..)(..)Z$/.exec(time)!
  return Date.parse(`${y}-${m}-${d}T${h}:${min}:${s}Z`)
}

/** Runs the allowed_signers files with OpenSSH's verdicts, and the case of a key that is known under another name. */
export function describeAllowedSigners(folder: string): void {
  const set = join(folder, 'allowed-signers')
  describe.skipIf(!existsSync(set))('allowed-signers', () => {
    it.each(readIndex<AllowedCase>(set, 'index.jsonl'))('$name: $opensshVerdict', (test) => {
      const { principal, namespace } = test
      const [file, signature] = [readBytes(set, test.msg), readBytes(set, test.sig)]
      const signers = {
        allowedSigners: readBytes(set, test.file),
        nowMs: msOf(test.verifyTime),
      }
      const verdict = verdictOf(() =>
        verifySshSignature({ file, signature, principal, namespace }, signers),
      )
      expect(verdict === 'accept').toBe(test.opensshVerdict)
    })
  })
  const r30 = join(folder, '../cases/r30-principal-mismatch')
  describe.skipIf(!existsSync(r30))('r30-principal-mismatch', () => {
    it('names the principal that the key is known as', () => {
      const asked = JSON.parse(Buffer.from(readBytes(r30, 'ask.json')).toString()) as {
        principal: string
        namespace: string
      }
      const signed = {
        ...asked,
        file: readBytes(r30, 'message.bin'),
        signature: readBytes(r30, 'handoff.sig'),
      }
      const signers = { allowedSigners: readBytes(r30, 'allowed_signers'), nowMs: 0 }
      let refusal: unknown
      try {
        verifySshSignature(signed, signers)
      } catch (error) {
        refusal = error
      }
      expect(codeOf(refusal)).toBe('HSTORE_SIGNER_UNKNOWN')
      expect((refusal as Error).message).toBe(
        'the key is known, but as "bob@example.test", not "alice@example.test"',
      )
    })
  })
}

/** Runs SSH signatures, good and altered, and those of OpenSSH's own tests. */
export function describeSshSignatures(folder: string): void {
  const set = join(folder, 'openssh-sshsig')
  describe.skipIf(!existsSync(set))('openssh-sshsig', () => {
    it.each(readIndex<SignatureCase>(set, 'index.jsonl'))('$name: $expect', (test) => {
      const signed = {
        file: readBytes(set, test.msg),
        signature: readBytes(set, test.sig),
        principal: test.signer,
        namespace: test.namespace,
      }
      const allowedSigners = readBytes(set, 'generated/allowed_signers')
      const verdict = verdictOf(() => verifySshSignature(signed, { allowedSigners, nowMs: 0 }))
      if (test.expect === 'valid') expect(verdict).toBe('accept')
      else if (test.expect === 'refuse') expect(verdict).not.toBe('accept')
      else expect(['accept', 'HSTORE_SIGNATURE_INVALID']).toContain(verdict)
    })
    const regress = join(set, 'openssh-regress')
    it("OpenSSH's own Ed25519 signature stands, and no bit of it may differ", () => {
      const file = readBytes(regress, 'signed-data')
      const signature = parseSshSignature(readBytes(regress, 'ed25519.sig'))
      const { publicKey } = parseOpenSSHPublicKey(readBytes(regress, 'ed25519.pub'))
      expect(signature.publicKey).toEqual(publicKey)
      expect(signature.namespace).toBe(Buffer.from(readBytes(regress, 'namespace')).toString())
      expect(isSshSigned(signature, file)).toBe(true)
      for (let bit = 0; bit < 512; bit++) {
        const altered = signature.signature.slice()
        altered[bit >> 3]! ^= 1 << (bit & 7)
        expect(isSshSigned({ ...signature, signature: altered }, file)).toBe(false)
      }
    })
    it.each(['rsa', 'ecdsa', 'ed25519_sk'])('one by a key of type %s is refused', (type) => {
      const bytes = readBytes(regress, `${type}.sig`)
      expect(verdictOf(() => parseSshSignature(bytes))).toBe('HSTORE_SIGNATURE_INVALID')
    })
  })
}
