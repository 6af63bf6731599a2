import { describe, expect, it } from 'vitest'
import { contentDigest, signRequest } from '../../../keys/http-signature.ts'
import type { Signer } from '../../../keys/signer.ts'
import { signerOfSeed } from '../../../keys/signer.ts'
import { HttpAuth } from '../../../src/sync/http-auth.ts'
import { Nonces } from '../../../src/sync/nonces.ts'
import type { Served } from '../../../src/sync/request.ts'
import { bytesOf } from '../../support/envelope.ts'

const known = signerOfSeed(bytesOf('known', 32))
const other = signerOfSeed(bytesOf('other', 32))
const stranger = signerOfSeed(bytesOf('stranger', 32))
const startS = 1_800_000_000

/** A server whose roster has two keys, at a time that can be set. */
function served(mostNonces?: number) {
  const agents = [known, other].map(({ did }) => ({
    read: ['*'],
    keys: [{ did, grants: [{ until: undefined }] }],
  }))
  const peer = {
    trust: { roster: { agents }, freezesOf: () => [] },
    [Symbol.asyncDispose]: async () => undefined,
  }
  const store = { directory: '/', open: async () => peer } as unknown as Served
  const at = { s: startS }
  const auth = new HttpAuth(store, [], () => at.s * 1000, new Nonces(mostNonces))
  return { at, ask: (one: ReturnType<typeof signed>) => auth.rightsOf(one.request, one.headers) }
}

let made = 0

function signed(signer: Signer, created = startS) {
  const digest = contentDigest(new Uint8Array())
  const request = { method: 'POST', authority: 'x', target: '/hstore', digest }
  const nonce = Buffer.from(`${made++}`.padEnd(16)).toString('base64url')
  return { request, headers: { ...signRequest(request, { created, nonce }, signer) } }
}

describe('who asks over HTTP', () => {
  it('counts once, whatever keys without rights send meanwhile', async () => {
    const { ask } = served(3)
    const captured = signed(known)
    expect(await ask(captured)).toMatchObject({ who: known.did, mayWrite: true })
    for (let i = 0; i < 20; i++) expect(await ask(signed(stranger))).toBeUndefined()
    expect(await ask(captured)).toBeUndefined()
  })

  it('that sends more than is remembered is told that there is no room, and takes none of another', async () => {
    const { ask, at } = served(3)
    const captured = signed(known)
    expect(await ask(captured)).toMatchObject({ who: known.did })
    const ofOther = signed(other)
    expect(await ask(ofOther)).toMatchObject({ who: other.did })
    at.s += 1
    for (let i = 0; i < 10; i++) await ask(signed(known, at.s))
    expect(await ask(captured)).toBe('busy')
    expect(await ask(signed(known, at.s))).toBe('busy')
    expect(await ask(ofOther)).toBeUndefined()
    expect(await ask(signed(other))).toMatchObject({ who: other.did })
    at.s += 1
    expect(await ask(signed(known, at.s))).toMatchObject({ who: known.did })
  })

  it('counts with a clock that is a little ahead, or minutes behind', async () => {
    const { ask, at } = served()
    at.s += 1000
    for (const [skewS, counts] of [
      [30, true],
      [31, false],
      [200, false],
      [-300, true],
      [-301, false],
    ] as const)
      expect((await ask(signed(known, at.s + skewS))) !== undefined, `${skewS} s`).toBe(counts)
  })

  it('does not count with what was signed before the start', async () => {
    const { ask } = served()
    expect(await ask(signed(known, startS - 2))).toBeUndefined()
    expect(await ask(signed(known, startS))).toBeDefined()
  })
})
