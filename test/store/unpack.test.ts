import { setTimeout as sleep } from 'node:timers/promises'
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { unpack } from '../../store/unpack.ts'
import { bytesOf } from '../support/envelope.ts'

const plain = Buffer.concat([bytesOf('plain', 20_000), Buffer.alloc(90_000, 'abc')])
const packed = deflateRawSync(plain)
const limits = { packedBytes: 1_000_000, sizeBytes: 1_000_000 }

async function* chunksOf(bytes: Uint8Array, fault?: Error): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 3000) yield bytes.subarray(at, at + 3000)
  if (fault !== undefined) throw fault
}

/** Reads slowly, as somebody does who writes each chunk to a disk. */
async function read(
  source: AsyncIterable<Uint8Array>,
): Promise<{ readonly bytes: Uint8Array; readonly fault: unknown }> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of source) {
      await new Promise((resolve) => setImmediate(resolve))
      chunks.push(chunk)
    }
    return { bytes: Buffer.concat(chunks), fault: undefined }
  } catch (fault) {
    return { bytes: Buffer.concat(chunks), fault }
  }
}

const refused = { code: 'HSTORE_CAR_INVALID' }

describe('unpacking', () => {
  it('gives what was packed', async () => {
    expect(await read(unpack(chunksOf(packed), limits))).toEqual({ bytes: plain, fault: undefined })
  })

  it('gives all that came before a cut, and before an error of the source', async () => {
    const broken = new Error('broken off')
    for (let end = 0; end < packed.length; end += 701) {
      const begin = packed.subarray(0, end)
      const finishFlush = constants.Z_SYNC_FLUSH
      const there = end === 0 ? Buffer.alloc(0) : inflateRawSync(begin, { finishFlush })
      const cut = await read(unpack(chunksOf(begin), limits))
      expect(cut.bytes.length, `cut at ${end}`).toBe(there.length)
      expect(cut.fault).toMatchObject(refused)
      const failed = await read(unpack(chunksOf(begin, broken), limits))
      expect(failed.bytes.length, `broken at ${end}`).toBe(there.length)
      expect(failed.fault).toBe(broken)
    }
  })

  it('gives all that came before a turned byte', async () => {
    const turned = Buffer.from(packed)
    turned.fill(255, 12_000)
    const { bytes, fault } = await read(unpack(chunksOf(turned), limits))
    expect(fault).toMatchObject(refused)
    expect(bytes.length).toBeGreaterThan(10_000)
  })

  it('refuses more than one stream, no stream, and more than the limits', async () => {
    const more = [Buffer.concat([packed, packed]), Buffer.concat([packed, Buffer.alloc(1)])]
    for (const bytes of [...more, Buffer.alloc(0), Buffer.from('noise noise noise')])
      expect((await read(unpack(chunksOf(bytes), limits))).fault).toMatchObject(refused)
    for (const key of ['packedBytes', 'sizeBytes'] as const) {
      const short = { ...limits, [key]: (key === 'sizeBytes' ? plain : packed).length }
      expect((await read(unpack(chunksOf(packed), short))).fault).toBeUndefined()
      const shorter = { ...short, [key]: short[key] - 1 }
      expect((await read(unpack(chunksOf(packed), shorter))).fault).toMatchObject(refused)
    }
  })

  it('keeps little of a bomb', async () => {
    const bomb = deflateRawSync(Buffer.alloc(50_000_000))
    const { bytes, fault } = await read(unpack(chunksOf(bomb), limits))
    expect(fault).toMatchObject(refused)
    expect(bytes.length).toBeLessThanOrEqual(limits.sizeBytes)
  })

  it('goes no further than it is read', async () => {
    const mib = 1024 * 1024
    const bomb = deflateRawSync(Buffer.alloc(100 * mib))
    const before = process.memoryUsage().arrayBuffers
    const unpacked = unpack([bomb] as never, { packedBytes: mib, sizeBytes: 200 * mib })
    const first = await unpacked.next()
    expect((first.value as Uint8Array).length).toBeGreaterThan(0)
    // another thread unpacks: it has long been ahead by all, if it goes ahead
    await sleep(500)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * mib)
    await unpacked.return(undefined)
  })
})
