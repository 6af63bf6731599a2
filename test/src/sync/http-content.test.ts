import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { contentDigest } from '../../../keys/http-signature.ts'
import { contentOf, wholeContent } from '../../../src/sync/http-content.ts'
import type { Content } from '../../../src/sync/http-content.ts'
import { Patience } from '../../../src/sync/patience.ts'
import { bytesOf } from '../../support/envelope.ts'

const all = bytesOf('content', 12 * 1024)
const digest = contentDigest(all)
const held = {
  moved: () => undefined,
  allMoved: () => undefined,
  [Symbol.dispose]: () => undefined,
}

const readers: readonly (readonly [
  string,
  (came: AsyncIterable<Uint8Array>, patience: Patience) => Promise<Content>,
])[] = [
  ['as it comes', async (came, patience) => contentOf(came, digest, held, patience)],
  ['when it is whole', (came, patience) => wholeContent(came, digest, held, patience)],
]

/** Yields pieces of a size with a pause before each, and says nothing more after some bytes. */
async function* paced(
  size: number,
  pauseMs: number,
  most = all.length,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < most; at += size) {
    await sleep(pauseMs)
    yield all.subarray(at, Math.min(at + size, most))
  }
  if (most < all.length) await new Promise<never>(() => undefined)
}

async function taken({ chunks }: Content): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

describe.each(readers)('content that is read %s', (_how, read) => {
  it('takes its time, where it comes at the least pace', async () => {
    // in all, longer than nothing may come: 12 KiB at 4 KiB/s
    const content = await read(paced(1024, 250), new Patience(2500))
    expect((await taken(content)).equals(all)).toBe(true)
    expect(await content.isSigned()).toBe(true)
  })

  it.each([
    ['stops', () => paced(1024, 0, 5 * 1024)],
    ['comes a byte now and then', () => paced(1, 5)],
  ])('is let go where it %s', async (_what, came) => {
    const content = await read(came(), new Patience(200))
    const kept = await taken(content)
    expect(kept.equals(all.subarray(0, kept.length))).toBe(true)
    expect(await content.isSigned()).toBe(false)
  })
})

it('content that is read as it comes and stops leaves what came', async () => {
  const content = contentOf(paced(1024, 0, 5 * 1024), digest, held, new Patience(200))
  expect(await taken(content)).toHaveLength(5 * 1024)
})

it('content that is read as it comes is taken in no faster than it is read, and passes by where it is not', async () => {
  let given = 0
  const came = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < all.length; at += 1024) {
      given += 1
      yield all.subarray(at, at + 1024)
    }
  }
  const content = contentOf(came(), digest, held, new Patience(2500))
  for await (const chunk of content.chunks) {
    expect(chunk).toHaveLength(1024)
    break
  }
  expect(given).toBe(1)
  expect(await content.isSigned()).toBe(true)
  expect(await content.isSigned()).toBe(true)
  expect(given).toBe(12)
})
