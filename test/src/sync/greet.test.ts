import { expect, it } from 'vitest'
import { greet } from '../../../src/sync/greet.ts'
import type { Transport } from '../../../src/sync/protocol.ts'

/** A remote that says hello in a version of the protocol. */
function speaking(v: number): Transport {
  const blocks = (async function* () {})()
  return {
    name: 'origin',
    ask: async () => ({ control: { is: 'hello', v }, blocks }),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

it('names a remote that is newer, whatever else it says', async () => {
  const met = await greet(speaking(2)).catch((error: unknown) => error)
  expect(met).toMatchObject({
    code: 'HSTORE_VERSION_NEWER',
    message: expect.stringMatching(/^origin .*2.*update hstore/),
  })
})

it('knows no version below the first', async () => {
  await expect(greet(speaking(0))).rejects.toMatchObject({ code: 'HSTORE_REMOTE_INVALID' })
})
