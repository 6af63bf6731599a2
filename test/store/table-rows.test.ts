import * as fc from 'fast-check'
import { Level } from 'level'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { asBuffer } from '../../src/kernel/bytes.ts'
import { readTableRows } from '../../store/table-rows.ts'
import { bytesOf } from '../support/envelope.ts'

type Rows = ReadonlyMap<string, string>

/** What LevelDB holds at most in a block before the row that fills it. */
const blockBytes = 4096

function valueOf(size: number, isRandom: boolean, i: number): Uint8Array {
  if (isRandom) return bytesOf(`${size}-${i}`, size)
  return Buffer.alloc(size, `{"number":${i},"text":"the same again"}`)
}

/** Returns the one table that LevelDB makes of rows with values of one size. */
async function makeTable(size: number, isRandom: boolean): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'hstore-table-'))
  try {
    return await makeTableIn(folder, size, isRandom)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** The types of `level` are those that it shares with the browser's. */
function canCompact(level: object): level is { compactRange(a: string, b: string): Promise<void> } {
  return 'compactRange' in level
}

async function makeTableIn(folder: string, size: number, isRandom: boolean): Promise<Uint8Array> {
  const level = new Level<string, Uint8Array>(folder, { valueEncoding: 'view' })
  const count = Math.max(2, Math.min(1500, Math.floor(1_200_000 / size)))
  for (let i = 0; i < count; i++)
    await level.put(`!blocks!${String(i).padStart(6, '0')}`, valueOf(size, isRandom, i))
  await level.del('!gone!')
  if (canCompact(level)) await level.compactRange('!', '~')
  await level.close()
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ldb'))
  const tables = await Promise.all(names.map((name) => readFile(join(folder, name))))
  return new Uint8Array(tables.sort((a, b) => b.length - a.length)[0]!)
}

function rowsOf(bytes: Uint8Array, isSoundOnly = true): Map<string, string> {
  const rows = new Map<string, string>()
  for (const { key, value, sound } of readTableRows(bytes))
    if (sound || !isSoundOnly)
      rows.set(asBuffer(key).toString(), asBuffer(value).toString('latin1'))
  return rows
}

/** What LevelDB wrote: checked against the values that it was given. */
function writtenIn(table: Uint8Array, size: number, isRandom: boolean): Rows {
  const rows = rowsOf(table)
  const odd = [...rows].filter(([key, value]) => {
    const i = Number(/^!blocks!(\d{6})$/.exec(key)?.[1])
    return value !== asBuffer(valueOf(size, isRandom, i)).toString('latin1')
  })
  expect(odd).toEqual([])
  return rows
}

/** Asserts that each of `rows` is one of `all`. */
function expectAmong(rows: Rows, all: Rows): void {
  expect([...rows].filter(([key, value]) => all.get(key) !== value)).toEqual([])
}

/** Asserts that `rows` are those of `all` but for one run of them, and returns how many that one has. */
function lostRun(rows: Rows, all: Rows): number {
  const keys = [...all.keys()]
  const lost = keys.flatMap((key, i) => (rows.has(key) ? [] : [i]))
  expectAmong(rows, all)
  const [first = 0] = lost
  expect(lost).toEqual(lost.map((_, i) => first + i))
  const bytes = lost.slice(0, -1).reduce((sum, i) => sum + all.get(keys[i]!)!.length, 0)
  expect(bytes).toBeLessThan(blockBytes)
  return lost.length
}

const kinds = [100, 1000, 20_000, 200_000, 1_048_576].flatMap((size) =>
  [false, true].map((isRandom) => [size, isRandom ? 'random' : 'compressible'] as const),
)

describe.each(kinds)('readTableRows of a table with values of %i bytes, %s', (size, kind) => {
  const isRandom = kind === 'random'
  let table: Uint8Array
  let all: Rows

  beforeAll(async () => {
    table = await makeTable(size, isRandom)
    all = writtenIn(table, size, isRandom)
  })

  const changed = (change: (bytes: Uint8Array) => void): Uint8Array => {
    const bytes = table.slice()
    change(bytes)
    return bytes
  }

  it('gives all rows, and each once', () => {
    const numbers = [...all.keys()].map((key) => Number(key.slice(8)))
    expect(numbers.length).toBeGreaterThan(0)
    expect(numbers).toEqual(numbers.map((_, i) => numbers[0]! + i))
    expect([...readTableRows(table)]).toHaveLength(all.size)
  })

  it('gives all rows without footer and index', () => {
    expect(rowsOf(table.subarray(0, -48))).toEqual(all)
    expect(rowsOf(changed((bytes) => bytes.fill(0, -48)))).toEqual(all)
    expect(rowsOf(changed((bytes) => bytes.fill(0xff, -100)))).toEqual(all)
  })

  it('gives all rows before a cut', () => {
    const rows = rowsOf(table.subarray(0, table.length >> 1), false)
    const keys = [...all.keys()]
    expect([...rows.keys()]).toEqual(keys.slice(0, rows.size))
    const perRow = table.length / all.size
    expect(rows.size).toBeGreaterThan(all.size / 2 - 2 - blockBytes / Math.min(perRow, size))
    expectAmong(rows, all)
  })

  it('gives all rows after a first block that was overwritten', () => {
    const rows = rowsOf(changed((bytes) => bytes.set(bytesOf('x', 100))))
    const lost = lostRun(rows, all)
    expect(lost).toBeGreaterThan(0)
    expect(rows.has([...all.keys()][0]!)).toBe(false)
  })

  it('gives all rows around 16 KiB of zeros', () => {
    const from = table.length >> 1
    const rows = rowsOf(changed((bytes) => bytes.fill(0, from, from + 16_384)))
    const perByte = all.size / table.length
    const most = Math.ceil((16_384 + 3 * blockBytes) * perByte) + 2
    expect(rows.size).toBeGreaterThanOrEqual(all.size - most)
    expectAmong(rows, all)
  })

  it('gives all rows but those of the one block in which a bit flipped', () => {
    const places = new DataView(bytesOf(`flip-${size}`, 4 * 12).slice().buffer)
    for (let i = 0; i < 12; i++) {
      const at = places.getUint32(4 * i) % table.length
      lostRun(rowsOf(changed((bytes) => (bytes[at]! ^= 1 << (i % 8)))), all)
    }
  })

  it('gives the rows of two tables with garbage before, between and behind', () => {
    const garbage = bytesOf('garbage', 50_000)
    const bytes = Buffer.concat([garbage, table, garbage, table.subarray(0, -48), garbage])
    expect(rowsOf(new Uint8Array(bytes))).toEqual(all)
  })
})

describe('readTableRows', () => {
  it('gives what stands before the damage in a block, and calls it unsound', async () => {
    const table = await makeTable(100, false)
    const all = rowsOf(table)
    const bytes = table.slice()
    const at = Buffer.from(table).indexOf('the same') + 800
    bytes[at]! ^= 0xff
    const some = [...readTableRows(bytes)].filter(({ sound }) => !sound)
    expect(some.length).toBeGreaterThan(5)
    const right = some.filter(
      ({ key, value }) => all.get(asBuffer(key).toString()) === asBuffer(value).toString('latin1'),
    )
    expect(right.length).toBeGreaterThan(5)
  })

  it('takes no index for rows, though the blocks before it are gone', async () => {
    const table = await makeTable(1000, true)
    const all = rowsOf(table)
    const rows = rowsOf(table.subarray(table.length - 40_000))
    expectAmong(rows, all)
    expect(rows.size).toBeGreaterThan(0)
  })

  it('has nothing of an empty file, of garbage, of zeros', () => {
    expect([...readTableRows(new Uint8Array())]).toEqual([])
    expect([...readTableRows(bytesOf('g', 1 << 20))].filter(({ sound }) => sound)).toEqual([])
    expect([...readTableRows(new Uint8Array(1 << 20))]).toEqual([])
  })

  it('neither throws nor gives more than a block holds, whatever the bytes', async () => {
    const table = (await makeTable(1000, false)).subarray(0, 20_000)
    const edit = fc.tuple(fc.nat(20_000), fc.uint8Array({ minLength: 1, maxLength: 40 }))
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(edit), (random, edits) => {
        const bytes = new Uint8Array([...random, ...table])
        for (const [at, some] of edits) bytes.set(some.subarray(0, bytes.length - at), at)
        for (const { key, value } of readTableRows(bytes)) {
          expect(key.length).toBeLessThanOrEqual(65_536)
          expect(value.length).toBeLessThanOrEqual(5 * 1024 * 1024)
        }
      }),
    )
  })

  it.each([
    ['entries without end', [0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0]],
    ['lengths of streams', [0x80, 0x80, 0x80, 2]],
    ['literals in literals', [0xf0, 0xf0, 0x40, 0]],
    ['zeros', [0]],
  ])('is done soon with a file that is nothing but %s', (_, bytes) => {
    const file = new Uint8Array(Buffer.alloc(8 * 1024 * 1024, Uint8Array.from(bytes)))
    const before = process.cpuUsage()
    let isSound = false
    for (const { sound } of readTableRows(file)) isSound ||= sound
    expect(isSound).toBe(false)
    // 8 MiB take 1 s; without a bound it is minutes
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(10)
  })
})
