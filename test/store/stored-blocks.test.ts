import { once } from 'node:events'
import { constants, createDeflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { storeBytes } from '../../store/stored-blocks.ts'
import { unpack } from '../../store/unpack.ts'
import { bytesOf } from '../support/envelope.ts'

const limits = { packedBytes: 1_000_000, sizeBytes: 1_000_000 }
const noise = bytesOf('noise', 70_000)

/** Stored blocks first, and packed ones that look back into them. */
async function mixed(): Promise<Buffer> {
  const deflate = createDeflateRaw({ level: 0 })
  const chunks: Buffer[] = []
  deflate.on('data', (chunk: Buffer) => chunks.push(chunk))
  deflate.write(noise.subarray(0, 40_000))
  await new Promise<void>((resolve) => deflate.flush(constants.Z_FULL_FLUSH, resolve))
  await new Promise<void>((resolve) => deflate.params(9, constants.Z_DEFAULT_STRATEGY, resolve))
  deflate.end(Buffer.concat([noise.subarray(20_000, 40_000), Buffer.alloc(9000, 'abc')]))
  await once(deflate, 'end')
  return Buffer.concat(chunks)
}

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Returns what comes out, or that it is refused. */
async function unpacked(bytes: Uint8Array, chunkSize: number): Promise<Buffer | 'refused'> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of unpack(chunksOf(bytes, chunkSize), limits)) chunks.push(chunk)
    return Buffer.concat(chunks)
  } catch (error) {
    expect(error).toMatchObject({ code: 'HSTORE_CAR_INVALID' })
    return 'refused'
  }
}

/** The same by zlib alone. */
function inflated(bytes: Uint8Array): Buffer | 'refused' {
  try {
    const found = inflateRawSync(bytes, { info: true, maxOutputLength: limits.sizeBytes })
    const { buffer, engine } = found as unknown as {
      readonly buffer: Buffer
      readonly engine: { readonly bytesWritten: number }
    }
    return engine.bytesWritten === bytes.length ? buffer : 'refused'
  } catch {
    return 'refused'
  }
}

const made: readonly (readonly [string, Buffer])[] = [
  ['stored', Buffer.concat([...storeBytes([noise, noise.subarray(0, 1), new Uint8Array(0)])])],
  ['nothing stored', Buffer.concat([...storeBytes([])])],
  ['stored by zlib', deflateRawSync(noise, { level: 0 })],
  ['packed', deflateRawSync(Buffer.concat([Buffer.alloc(9000, 'abc'), noise.subarray(0, 9000)]))],
  ['stored, then packed', await mixed()],
]

it('stored blocks begin what is stored, by zlib too', () => {
  expect(made.map(([, bytes]) => (bytes[0]! & 6) === 0)).toEqual([true, true, true, false, true])
})

describe.each(made)('what is %s', (_name, bytes) => {
  it('comes out as zlib has it, however it comes', async () => {
    const expected = inflated(bytes)
    expect(expected).not.toBe('refused')
    for (const size of [11, 4096, 65_536, 1_000_000])
      expect(await unpacked(bytes, size)).toEqual(expected)
  })

  it('is refused where zlib refuses it: turned, cut, and with more behind it', async () => {
    const change = fc.record({
      at: fc.oneof(fc.nat({ max: 12 }), fc.nat({ max: Math.max(0, bytes.length - 1) })),
      turn: fc.nat({ max: 255 }),
      end: fc.oneof(fc.constant(bytes.length), fc.nat({ max: bytes.length })),
      more: fc.uint8Array({ maxLength: 6 }),
    })
    await fc.assert(
      fc.asyncProperty(change, async ({ at, turn, end, more }) => {
        const changed = Buffer.concat([bytes.subarray(0, end), more])
        if (at < changed.length) changed[at]! ^= turn
        expect(await unpacked(changed, 5000)).toEqual(inflated(changed))
      }),
      { numRuns: 60 },
    )
  })
})

it('what is stored has no more than the limits, to the byte', async () => {
  const bytes = Buffer.concat([...storeBytes([noise])])
  const fits = { packedBytes: bytes.length, sizeBytes: noise.length }
  for (const [key, less] of [
    ['packedBytes', 0],
    ['packedBytes', 1],
    ['sizeBytes', 1],
  ] as const) {
    const taken: Uint8Array[] = []
    const read = async (): Promise<void> => {
      const some = { ...fits, [key]: fits[key] - less }
      for await (const chunk of unpack(chunksOf(bytes, 5000), some)) taken.push(chunk)
    }
    if (less === 0) await read()
    else await expect(read()).rejects.toMatchObject({ code: 'HSTORE_CAR_INVALID' })
    expect(Buffer.concat(taken).length).toBeLessThanOrEqual(noise.length - less)
  }
})
