import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Block } from '../../store/block.ts'
import { HashedBlock } from '../../store/block.ts'
import { encodeForm } from '../../store/canonical.ts'
import { writeCarBlocks } from '../../store/car-write.ts'
import { decodeMessage, encodeMessage } from '../../store/wire.ts'
import { bytesOf } from '../support/envelope.ts'

const control = { is: 'want', taken: 3 }
const raw = (bytes: Uint8Array): Block => HashedBlock.of(bytes, 'raw')
const small = Array.from({ length: 40 }, (_, i) => raw(bytesOf(`s${i}`, i * 300 + 1)))
const dense = raw(bytesOf('dense', 1024 * 1024))
const sparse = raw(Buffer.alloc(1024 * 1024, 'abc'))

async function packed(blocks: readonly Block[]): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of encodeMessage({ control, blocks })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('a message', () => {
  it.each([
    ['no blocks', []],
    ['small blocks', small],
    ['large blocks', [dense, sparse]],
    [
      'small and large ones',
      [...small.slice(0, 30), dense, small[30]!, sparse, ...small.slice(31)],
    ],
  ])('with %s is one CAR, whose root is the control block', async (_what, blocks) => {
    const root = HashedBlock.of(encodeForm(control), 'dag-json')
    const car: Uint8Array[] = []
    for await (const chunk of writeCarBlocks([root.cid], [root, ...blocks])) car.push(chunk)
    const bytes = await packed(blocks)
    expect(inflateRawSync(bytes).equals(Buffer.concat(car))).toBe(true)
    const read = await decodeMessage(
      (async function* () {
        yield bytes
      })(),
    )
    expect(read.control).toEqual(control)
    const back: string[] = []
    for await (const { cid } of read.blocks) back.push(cid)
    expect(back).toEqual(blocks.map(({ cid }) => cid))
  })

  it('is packed, but for files that do not get smaller', async () => {
    expect((await packed([sparse])).length).toBeLessThan(20_000)
    expect((await packed([dense])).length).toBeGreaterThan(dense.bytes.length)
    expect((await packed([dense])).length).toBeLessThan(dense.bytes.length + 2000)
  })

  it('that begins with something else is not read on', async () => {
    const car: Uint8Array[] = []
    for await (const chunk of writeCarBlocks([dense.cid], [dense])) car.push(chunk)
    const bytes = deflateRawSync(Buffer.concat(car), { level: 0 })
    let asked = 0
    const source = (async function* () {
      for (let at = 0; at < bytes.length; at += 64 * 1024) {
        asked += 1
        yield bytes.subarray(at, at + 64 * 1024)
      }
    })()
    await expect(decodeMessage(source)).rejects.toMatchObject({ code: 'HSTORE_CAR_INVALID' })
    expect(asked).toBeLessThanOrEqual(4)
  })
})
