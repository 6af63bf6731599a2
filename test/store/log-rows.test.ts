import * as fc from 'fast-check'
import { Level } from 'level'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { asBuffer } from '../../src/kernel/bytes.ts'
import { readLogRows } from '../../store/log-rows.ts'
import { bytesOf } from '../support/envelope.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const keyOf = (i: number): string => `!blocks!${String(i).padStart(6, '0')}`

/** Returns the log that LevelDB wrote of `count` rows, so many to a batch. */
async function makeLog(count: number, size: number, perBatch: number): Promise<Uint8Array> {
  const folder = await makeTempFolder()
  const level = new Level<string, Uint8Array>(folder, { valueEncoding: 'view' })
  await level.open()
  for (let from = 0; from < count; from += perBatch) {
    const batch = level.batch().del('!gone!')
    for (let i = from; i < from + perBatch; i++) batch.put(keyOf(i), bytesOf(`${i}`, size))
    await batch.write()
  }
  await level.close()
  const name = (await readdir(folder)).find((one) => one.endsWith('.log'))!
  return new Uint8Array(await readFile(join(folder, name)))
}

/** Returns the numbers of the rows that are right. */
function rightIn(log: Uint8Array, size: number): readonly number[] {
  return [...readLogRows(log)].flatMap(({ key, value }) => {
    const i = Number(asBuffer(key).toString().slice(8))
    return asBuffer(value).equals(bytesOf(`${i}`, size)) ? [i] : []
  })
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i)

describe('readLogRows', () => {
  it.each([
    [2000, 100, 1],
    [400, 1000, 40],
    [30, 20_000, 1],
    [8, 300_000, 4],
  ])('gives all of %i rows of %i bytes, %i to a batch', async (count, size, perBatch) => {
    const log = await makeLog(count, size, perBatch)
    const rows = [...readLogRows(log)]
    expect(rows.every(({ sound }) => sound)).toBe(true)
    expect(rows).toHaveLength(count)
    expect(rightIn(log, size)).toEqual(upTo(count))
  })

  it('loses nothing to a wrong length: the next header says where the piece ends', async () => {
    const log = await makeLog(300, 100, 1)
    log[4] = 0xff
    log[5] = 0x7f
    expect(rightIn(log, 100)).toEqual(upTo(300))
  })

  it('loses those rows of a batch only in which a header was overwritten', async () => {
    const log = await makeLog(400, 1000, 200)
    log.fill(0, 3 * 32_768, 3 * 32_768 + 7)
    const right = rightIn(log, 1000)
    expect(right).toEqual(upTo(400))
    log.fill(0xff, 3 * 32_768, 3 * 32_768 + 107)
    expect(rightIn(log, 1000).length).toBeGreaterThanOrEqual(398)
  })

  it('gives what stands before a cut', async () => {
    const log = await makeLog(40, 10_000, 20)
    const right = rightIn(log.subarray(0, log.length - 15_000), 10_000)
    expect(right).toEqual(upTo(38))
  })

  it('gives a row with a changed bit as unsound, and all others', async () => {
    const log = await makeLog(300, 100, 1)
    log[8000]! ^= 1
    expect(rightIn(log, 100)).toHaveLength(299)
    expect([...readLogRows(log)].filter(({ sound }) => !sound)).toHaveLength(1)
  })

  it('never throws, whatever the bytes', async () => {
    const log = (await makeLog(60, 1000, 10)).subarray(0, 50_000)
    const edit = fc.tuple(fc.nat(50_000), fc.uint8Array({ minLength: 1, maxLength: 40 }))
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.array(edit), (random, edits) => {
        const bytes = new Uint8Array([...random, ...log])
        for (const [at, some] of edits) bytes.set(some.subarray(0, bytes.length - at), at)
        const total = [...readLogRows(bytes)].reduce((sum, { value }) => sum + value.length, 0)
        expect(total).toBeLessThanOrEqual(bytes.length)
      }),
    )
  })

  it('has nothing of an empty log and of zeros', () => {
    expect([...readLogRows(new Uint8Array())]).toEqual([])
    expect([...readLogRows(new Uint8Array(100_000))]).toEqual([])
  })
})
