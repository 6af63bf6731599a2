import { createPublicKey } from 'node:crypto'
import { bundleFromJSON } from '@sigstore/bundle'
import { toSignedEntity, Verifier } from '@sigstore/verify'
import { describe, expect, it } from 'vitest'
import { parseDidKey } from '../../keys/did-key.ts'
import { formatSpki } from '../../keys/spki.ts'
import type { DsseEnvelope } from '../../src/entry/dsse.ts'
import { historyFiles } from '../support/history.ts'
import { json, makeSharedFolder, makeTestStore, ok, putHistory } from '../support/store.ts'

const store = await makeTestStore(await makeSharedFolder())
await putHistory(store)

/** Returns whether the verifier of Sigstore takes an envelope under the key that its `keyid` names. */
function isTaken(dsse: DsseEnvelope, did: string): boolean {
  const bundle = bundleFromJSON({
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: { publicKey: { hint: dsse.signatures[0]?.keyid } },
    dsseEnvelope: dsse,
  })
  const publicKey = createPublicKey(formatSpki(parseDidKey(did)))
  const trust = {
    certificateAuthorities: [],
    timestampAuthorities: [],
    tlogs: [],
    ctlogs: [],
    publicKey: () => ({ publicKey, validFor: () => true }),
  }
  const none = { tlogThreshold: 0, timestampThreshold: 0, ctlogThreshold: 0 }
  try {
    return new Verifier(trust, none).verify(toSignedEntity(bundle)).key.equals(publicKey)
  } catch (error) {
    expect(error).toMatchObject({ code: 'SIGNATURE_ERROR' })
    return false
  }
}

function changed(dsse: DsseEnvelope, at: number): DsseEnvelope {
  const payload = Buffer.from(dsse.payload, 'base64')
  payload[at]! ^= 1
  return { ...dsse, payload: payload.toString('base64') }
}

describe('get --dsse', () => {
  it.each(historyFiles)("$revision is taken by Sigstore's verifier", async ({ revision }) => {
    const dsse = json<unknown>(await ok(store.run('get', revision, '--dsse'))) as DsseEnvelope
    const [signature] = dsse.signatures
    expect(Object.keys(dsse)).toEqual(['payload', 'payloadType', 'signatures'])
    expect(isTaken(dsse, signature!.keyid)).toBe(true)
    const entry = Buffer.from((await ok(store.run('get', revision, '--entry'))).outBytes)
    expect(entry.includes(Buffer.from(dsse.payload, 'base64'))).toBe(true)
    for (const at of [0, 40, 200]) expect(isTaken(changed(dsse, at), signature!.keyid)).toBe(false)
    expect(isTaken({ ...dsse, payloadType: 'text/plain' }, signature!.keyid)).toBe(false)
  })

  it('is of an entry, and alone', async () => {
    const [{ revision }] = historyFiles as [(typeof historyFiles)[number]]
    for (const other of ['--entry', '--original', '--json']) {
      expect((await store.run('get', revision, '--dsse', other)).exit).toBe(2)
    }
    expect((await store.run('get', 'csag:handoff/nowhere', '--dsse')).exit).toBe(2)
    const cid = 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'
    expect((await store.run('get', cid, '--dsse')).exit).not.toBe(0)
  })
})
