import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { verify } from '../../keys/ed25519.ts'
import { signerOfSeed } from '../../keys/signer.ts'
import { openAgentSigner, tryAgentSigner } from '../../keys/ssh-agent.ts'
import { codeOf } from '../vectors/read-index.ts'
import { seed, startScripted } from '../support/ssh-agent.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const { publicKey, did } = signerOfSeed(seed)
const message = new TextEncoder().encode('signed by another program')

function codeFrom(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    expect((error as Error).message).not.toContain('\n')
    return codeOf(error)
  }
  return 'none'
}

describe('openAgentSigner', () => {
  it.each(['is honest', 'answers in pieces'])('signs where the agent %s', async (script) => {
    const signer = openAgentSigner(publicKey, await startScripted(script))
    expect(signer).toMatchObject({ did, level: 'agent' })
    expect(verify(signer.sign(message), message, publicKey)).toBe(true)
    expect(signer.sign(message)).toEqual(signerOfSeed(seed).sign(message))
    tryAgentSigner(signer)
  })

  it.each([
    ['fails to list', 'HSTORE_SSH_AGENT_REFUSED'],
    ['lists nothing', 'HSTORE_SSH_AGENT_REFUSED'],
    ['lists another key', 'HSTORE_SSH_AGENT_REFUSED'],
    ['lists a key of FIDO', 'HSTORE_SSH_AGENT_REFUSED'],
    ['counts too many', 'HSTORE_SSH_AGENT_MISSING'],
    ['lists and says more', 'HSTORE_SSH_AGENT_MISSING'],
    ['gives another message', 'HSTORE_SSH_AGENT_MISSING'],
    ['gives an empty message', 'HSTORE_SSH_AGENT_MISSING'],
    ['promises 4 GiB', 'HSTORE_SSH_AGENT_MISSING'],
    ['says more than it promised', 'HSTORE_SSH_AGENT_MISSING'],
    ['hangs up half way', 'HSTORE_SSH_AGENT_MISSING'],
    ['hangs up at once', 'HSTORE_SSH_AGENT_MISSING'],
    ['never answers', 'HSTORE_SSH_AGENT_MISSING'],
    ['answers a byte a second', 'HSTORE_SSH_AGENT_MISSING'],
  ])('an agent that %s is refused', async (script, code) => {
    const socket = await startScripted(script)
    expect(codeFrom(() => openAgentSigner(publicKey, socket))).toBe(code)
  })

  it.each([
    ['refuses to sign', 'HSTORE_SSH_AGENT_REFUSED'],
    ['signs something else', 'HSTORE_SSH_AGENT_REFUSED'],
    ['gives zeros', 'HSTORE_SSH_AGENT_REFUSED'],
    ['gives half a signature', 'HSTORE_SSH_AGENT_REFUSED'],
    ['gives a longer signature', 'HSTORE_SSH_AGENT_REFUSED'],
    ['names another type', 'HSTORE_SSH_AGENT_REFUSED'],
    ['gives S + L', 'HSTORE_SSH_AGENT_REFUSED'],
    ['signs and says more', 'HSTORE_SSH_AGENT_MISSING'],
    ['signs with an empty answer', 'HSTORE_SSH_AGENT_MISSING'],
  ])('of an agent that %s no signature is used', async (script, code) => {
    const signer = openAgentSigner(publicKey, await startScripted(script))
    expect(codeFrom(() => signer.sign(message))).toBe(code)
  })

  it('says when there is no agent', async () => {
    expect(codeFrom(() => openAgentSigner(publicKey, undefined))).toBe('HSTORE_SSH_AGENT_MISSING')
    const nowhere = join(await makeTempFolder(), 's')
    for (const socket of [nowhere, '/dev/null', `${nowhere}\0`, `/${'x'.repeat(300)}`]) {
      expect(codeFrom(() => openAgentSigner(publicKey, socket))).toBe('HSTORE_SSH_AGENT_MISSING')
    }
  })

  it('an agent that was late does not answer the next question', async () => {
    const late = await startScripted('never answers')
    expect(codeFrom(() => openAgentSigner(publicKey, late))).toBe('HSTORE_SSH_AGENT_MISSING')
    const honest = openAgentSigner(publicKey, await startScripted('is honest'))
    expect(verify(honest.sign(message), message, publicKey)).toBe(true)
  })
})
