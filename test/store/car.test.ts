import { createHash } from 'node:crypto'
import { CID } from 'multiformats/cid'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readCar, writeCar } from '../../store/car.ts'
import type { CarBlock } from '../../store/car.ts'
import { openCar } from '../../store/car-read.ts'
import { cidOf } from '../../store/cid.ts'
import type { StoreError } from '../../store/errors.ts'
import { utf8 } from './known-answers.ts'

// The files are put together by hand here, so that reader and writer are not only held against each other.
const one = utf8('{"n":1}')
const two = utf8('{"n":2}')
const blob = utf8('any bytes')
const cidOne = binaryCid(one)
const cidTwo = binaryCid(two)
const cidBlob = binaryCid(blob, '0155')
const good = car([cidTwo], [cidOne, one], [cidTwo, two], [cidBlob, blob])

function binaryCid(bytes: Uint8Array, head = '01a902'): Buffer {
  return join(hex(`${head}1220`), createHash('sha256').update(bytes).digest())
}

function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(' ', ''), 'hex')
}

function join(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts)
}

function header(
  roots: readonly Uint8Array[],
  count = hex((0x80 + roots.length).toString(16)),
): Buffer {
  const links = roots.map((cid) => join(hex('d82a58'), Uint8Array.of(cid.length + 1, 0), cid))
  return join(hex('a265'), utf8('roots'), count, ...links, hex('67'), utf8('version'), hex('01'))
}

function frame(...parts: readonly Uint8Array[]): Buffer {
  let size = join(...parts).length
  const length: number[] = []
  for (; size >= 0x80; size = Math.floor(size / 0x80)) length.push((size % 0x80) + 0x80)
  return join(Uint8Array.from([...length, size]), ...parts)
}

function car(roots: readonly Uint8Array[], ...blocks: readonly (readonly Uint8Array[])[]): Buffer {
  return join(frame(header(roots)), ...blocks.map((block) => frame(...block)))
}

async function read(source: Parameters<typeof readCar>[0]): Promise<CarBlock[]> {
  const blocks: CarBlock[] = []
  for await (const block of readCar(source)) blocks.push(block)
  return blocks
}

async function faultOf(source: Parameters<typeof readCar>[0]): Promise<StoreError> {
  const error: unknown = await read(source).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ name: 'StoreError', code: 'HSTORE_CAR_INVALID' })
  return error as StoreError
}

async function write(roots: CID[], blocks: Iterable<CarBlock>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of writeCar(roots, blocks)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

describe('readCar', () => {
  it('gives the blocks in the order of the file', async () => {
    const blocks = await read(good)
    expect(blocks.map(({ cid }) => cid)).toEqual(
      [one, two].map((b) => cidOf(b, 'dag-json')).concat(cidOf(blob, 'raw')),
    )
    expect(blocks.map(({ bytes }) => bytes)).toEqual([one, two, blob])
    expect(blocks.every(({ cid }) => cid instanceof CID)).toBe(true)
    expect((await openCar(good)).roots).toEqual([cidOf(two, 'dag-json').toString()])
  })

  it('does not care how the bytes come', async () => {
    for (const size of [1, 2, 3, 60, 1000]) expect(await read(chunked(good, size))).toHaveLength(3)
    expect(await read([good.subarray(0, 5), new Uint8Array(0), good.subarray(5)])).toHaveLength(3)
  })

  it('takes no root, a block again, and gives each once', async () => {
    expect(await read(car([], [cidOne, one]))).toHaveLength(1)
    expect(await read(car([cidOne], [cidOne, one], [cidTwo, two], [cidOne, one]))).toHaveLength(2)
    expect(await read(car([]))).toEqual([])
  })

  it.each<[string, Uint8Array, RegExp]>([
    ['no bytes', Buffer.alloc(0), /empty/],
    ['a wrong hash', car([cidOne], [cidOne, two]), /do not hash to baguq/],
    ['two payloads for one CID', car([cidOne], [cidOne, one], [cidOne, two]), /do not hash/],
    ['a missing root', car([cidTwo], [cidOne, one]), /root baguq\w+ is not among/],
    ['a root under another codec', car([binaryCid(one, '0155')], [cidOne, one]), /not among/],
    ['a root that is named twice', car([cidOne, cidOne], [cidOne, one]), /twice/],
    ['a block that is not canonical', carOf('{"n": 1}'), /white space/],
    ['a block that is not JSON', carOf('{"n":}'), /wanted a value/],
    ['a block without bytes', carOf(''), /no bytes/],
    ['a block whose root is no map', carOf('[]'), /no map/],
    ['version 2', join(hex('0aa16776657273696f6e02'), good), /version 2/],
    ['version 3', framed(join(header([cidOne]).subarray(0, -1), hex('03'))), /version 1/],
    ['version 1.0', framed(join(header([cidOne]).subarray(0, -1), hex('f93c00'))), /version 1/],
    ['a long version', framed(join(header([cidOne]).subarray(0, -1), hex('1801'))), /version 1/],
    ['bytes behind the header', framed(join(header([cidOne]), hex('00'))), /version 1/],
    [
      'unsorted header keys',
      framed(join(hex('a267'), utf8('version'), hex('0165'), utf8('roots'), hex('80'))),
      /canonical/,
    ],
    ['a third header key', framed(header([cidOne]).fill(0xa3, 0, 1)), /canonical/],
    ['an indefinite map', framed(header([cidOne]).fill(0xbf, 0, 1)), /canonical/],
    ['a long count of roots', framed(header([cidOne], hex('9801'))), /canonical/],
    ['a very long count of roots', framed(header([cidOne], hex('990001'))), /canonical/],
    ['more roots than follow', framed(header([cidOne], hex('82'))), /root 1/],
    [
      'a root that is no link',
      framed(join(header([]).subarray(0, 7), hex('8101'), header([]).subarray(8))),
      /root 0/,
    ],
    ['a root of version 0', car([hex(`1220${'11'.repeat(32)}`)]), /root 0: CIDv0/],
    ['a root of another hash', car([hex(`01a9021114${'11'.repeat(20)}`)]), /hash function 0x11/],
    ['a root with bytes behind', car([join(cidOne, hex('00'))]), /bytes after/],
    ['a section of length 0', join(good, hex('00')), /length 0/],
    ['zeros at the end', join(good, Buffer.alloc(40)), /length 0/],
    ['garbage at the end', join(good, utf8('garbage')), /cut short/],
    ['a section shorter than its CID', join(car([cidOne]), hex('04'), cidOne, one), /cut short/],
    [
      'an overlong section length',
      join(car([cidOne]), hex('ac00'), cidOne, one),
      /longer than needed/,
    ],
    ['a length of eight bytes', join(good, hex('ffffffffffffff7f')), /over 7 bytes/],
    ['a length past 4 MiB', join(good, hex('ffffffffff7f')), /at most/],
    ['a header past 1 MiB', join(hex('81808001'), Buffer.alloc(100)), /at most/],
    ['a cut header', good.subarray(0, 20), /cut short/],
    ['a cut length', join(good, hex('80')), /cut short in a length/],
    [
      'a CID of version 0',
      car([], [hex('1220'), createHash('sha256').update(one).digest(), one]),
      /CIDv0/,
    ],
    ['a CID of version 3', car([], [join(hex('03'), cidOne.subarray(1)), one]), /version 3/],
    ['a CID of codec dag-cbor', car([], [binaryCid(one, '0171'), one]), /codec 0x71/],
    ['the identity hash', car([], [hex('01a902000461626364'), utf8('abcd')]), /function 0x0/],
    ['md5', car([], [hex(`01a902d50110${'22'.repeat(16)}`), one]), /function 0xd5/],
    ['a short digest', car([], [hex(`01a9021214${'22'.repeat(20)}`), one]), /20 bytes/],
    ['no digest', car([], [hex('01a9021200'), one]), /0 bytes/],
    ['a digest of 64 bytes', car([], [hex(`01a9021240${'22'.repeat(64)}`), one]), /64 bytes/],
    ['a digest longer than the section', car([], [cidOne.subarray(0, 20)]), /cut short/],
    [
      'an overlong CID version',
      car([], [join(hex('8100'), cidOne.subarray(1)), one]),
      /longer than/,
    ],
    [
      'an overlong CID codec',
      car([], [join(hex('01a98200'), cidOne.subarray(3)), one]),
      /longer than/,
    ],
  ])('refuses %s', async (_name, bytes, words) => {
    const error = await faultOf(bytes)
    expect(error.message).toMatch(words)
    expect(error.message).toMatch(/^.{1,600}$/)
    expect(await faultOf(chunked(bytes, 7))).toMatchObject({ details: error.details })
  })

  it('refuses every cut but that between two sections, and says what it has', async () => {
    const ends = [good.length - blob.length - 37]
    for (
      let cut = car([cidTwo], [cidOne, one], [cidTwo, two]).length + 1;
      cut < good.length;
      cut++
    ) {
      const { details } = await faultOf(good.subarray(0, cut))
      expect(details).toEqual({ offset: ends[0], last: cidOf(two, 'dag-json').toString() })
    }
    expect(await read(good.subarray(0, ends[0]))).toHaveLength(2)
  })

  it('names offset, CID and the last good block', async () => {
    const start = car([cidTwo], [cidOne, one]).length
    const bytes = car([cidTwo], [cidOne, one], [cidTwo, one])
    expect((await faultOf(bytes)).details).toEqual({
      offset: start,
      cid: cidOf(two, 'dag-json').toString(),
      last: cidOf(one, 'dag-json').toString(),
    })
  })

  it('refuses any flipped bit', async () => {
    for (let bit = 0; bit < good.length * 8; bit++) {
      const flipped = Buffer.from(good)
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      await faultOf(flipped)
    }
  })

  it('ends in a refusal on random bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), fc.nat(good.length), async (tail, cut) => {
        fc.pre(tail.length > 0)
        await faultOf(tail)
        fc.pre(!good.subarray(cut, cut + tail.length).equals(tail))
        const spliced = join(good.subarray(0, cut), tail)
        const error: unknown = await read(spliced).catch((reason: unknown) => reason)
        expect(error).toMatchObject({ code: 'HSTORE_CAR_INVALID' })
      }),
      { numRuns: 200 },
    )
  })

  it('bounds blocks by size and number', async () => {
    const large = new Uint8Array(4 * 1024 * 1024)
    expect(await read(car([], [binaryCid(large, '0155'), large]))).toHaveLength(1)
    const larger = new Uint8Array(4 * 1024 * 1024 + 1)
    await faultOf(car([], [binaryCid(larger, '0155'), larger]))
    const body = utf8(`{"a":"${'x'.repeat(2 * 1024 * 1024)}"}`)
    await faultOf(car([], [binaryCid(body), body]))
    const limited = readCar(car([], [cidOne, one], [cidOne, one], [cidOne, one]), { maxBlocks: 2 })
    await expect(limited.next()).resolves.toMatchObject({ done: false })
    await expect(limited.next()).rejects.toMatchObject({ code: 'HSTORE_CAR_INVALID' })
  })

  it('reads no further than it must, and lets the source go', async () => {
    let given = 0
    let closed = false
    function* endless(): Generator<Uint8Array> {
      try {
        yield join(car([cidOne], [cidOne, one]), hex('ffffffff0f'))
        for (;;) {
          given += 1
          yield new Uint8Array(1024)
        }
      } finally {
        closed = true
      }
    }
    await faultOf(endless())
    expect(given).toBe(0)
    expect(closed).toBe(true)
    closed = false
    for await (const { cid } of readCar(endless())) {
      expect(cid.toString()).toBe(cidOf(one, 'dag-json').toString())
      break
    }
    expect(closed).toBe(true)
  })

  it('gives bytes that later changes of the source do not reach', async () => {
    const bytes = Uint8Array.from(good)
    const [block] = await read(bytes)
    bytes.fill(0)
    expect(block?.bytes).toEqual(one)
  })

  it('wants chunks of bytes, and passes on what the source throws', async () => {
    await expect(read(['text'] as unknown as Uint8Array[])).rejects.toMatchObject({
      code: 'HSTORE_ARGUMENT_INVALID',
    })
    function* failing(): Generator<Uint8Array> {
      yield good.subarray(0, 80)
      throw new Error('disk')
    }
    await expect(read(failing())).rejects.toThrow('disk')
  })
})

describe('writeCar', () => {
  const blockOne = { cid: cidOf(one, 'dag-json'), bytes: one }
  const blockTwo = { cid: cidOf(two, 'dag-json'), bytes: two }
  const blockBlob = { cid: cidOf(blob, 'raw'), bytes: blob }

  it('writes the bytes that the format asks for', async () => {
    expect(await write([blockTwo.cid], [blockOne, blockTwo, blockBlob])).toEqual(good)
    expect(await write([blockTwo.cid], [blockOne, blockTwo, blockOne, blockBlob])).toEqual(good)
    expect(await write([], [])).toEqual(car([]))
  })

  it('writes what readCar reads, for any number of roots', async () => {
    for (const count of [23, 24, 255, 256, 300]) {
      const blocks = Array.from({ length: count }, (_, n) => {
        const bytes = utf8(`{"n":${n}}`)
        return { cid: cidOf(bytes, 'dag-json'), bytes }
      })
      const bytes = await write(
        blocks.map(({ cid }) => cid),
        blocks,
      )
      expect(await read(bytes)).toEqual(blocks)
      expect((await openCar(bytes)).roots).toEqual(blocks.map(({ cid }) => cid.toString()))
    }
  })

  it('writes the CID that the bytes of the object say', async () => {
    const spelt = { cid: CID.parse(`${blockOne.cid.toString()}====`), bytes: one }
    expect(await write([spelt.cid], [spelt])).toEqual(car([cidOne], [cidOne, one]))
  })

  it.each<[string, CID[], CarBlock[]]>([
    ['bytes under another CID', [], [{ cid: blockOne.cid, bytes: two }]],
    ['a block that is not canonical', [], [blockOf('{"n": 1}')]],
    [
      'a block of another codec',
      [],
      [{ cid: CID.createV1(0x71, blockOne.cid.multihash), bytes: one }],
    ],
    ['a missing root', [blockTwo.cid], [blockOne]],
    ['a root twice', [blockOne.cid, blockOne.cid], [blockOne]],
    ['a root of another codec', [CID.createV1(0x71, blockOne.cid.multihash)], [blockOne]],
    ['a raw block past 4 MiB', [], [rawBlockOf(new Uint8Array(4 * 1024 * 1024 + 1))]],
  ])('refuses %s', async (_name, roots, blocks) => {
    await expect(write(roots, blocks)).rejects.toMatchObject({ code: 'HSTORE_CAR_INVALID' })
  })
})

it.each([null, 1, 'x', [1], {}])('takes %j for no CAR and no blocks of one', async (odd) => {
  const refused = { code: 'HSTORE_ARGUMENT_INVALID' }
  await expect(readCar(odd as never).next()).rejects.toMatchObject(refused)
  const unlike = { code: expect.stringMatching(/^HSTORE_/) as string }
  await expect(writeCar(odd as never, []).next()).rejects.toMatchObject(unlike)
  await expect(write([], odd as never)).rejects.toMatchObject(unlike)
})

function framed(head: Uint8Array): Buffer {
  return join(frame(head), frame(cidOne, one))
}

function carOf(text: string): Buffer {
  return car([], [binaryCid(utf8(text)), utf8(text)])
}

function blockOf(text: string): CarBlock {
  return { cid: cidOf(utf8(text), 'dag-json'), bytes: utf8(text) }
}

function rawBlockOf(bytes: Uint8Array): CarBlock {
  return { cid: cidOf(bytes, 'raw'), bytes }
}
