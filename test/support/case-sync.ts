import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCar } from '../../store/car.ts'
import { openCar } from '../../store/car-read.ts'
import { writeEnvelope } from './envelope.ts'
import type { Given } from './given-cases.ts'
import { bytesIn } from './given-cases.ts'
import type { TestStore } from './store.ts'
import { agents, copyStore, digestOf, makeTestStore, ok } from './store.ts'
import { makeTempFolder } from './temp-folder.ts'

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')

/** The cases of CAR files and of what comes from elsewhere: r12, r14, r16, r27. */
export function describeSyncCases(given: Given): void {
  describe('r12: bytes that are not of their CID', () => {
    const id = 'r12-car-wrong-hash'
    it.each(['flipped.car', 'second-copy.car', 'wrong.car'])('%s is refused', async (name) => {
      const bytes = bytesIn(given, id, name)
      await expect(drain(readCar(bytes))).rejects.toMatchObject({
        code: 'HSTORE_CAR_INVALID',
        details: { cid: expect.stringMatching(/^baguqeera/) },
      })
      const said = await refusesImport(await makeTestStore(await makeTempFolder()), bytes, [5])
      expect(said).toMatch(/baguqeera/)
    })
  })

  describe('r14: a CAR that was cut', () => {
    const id = 'r14-truncated-car-success'
    it('is refused, the last good block named', async () => {
      const store = await makeTestStore(await makeTempFolder())
      await drain(readCar(bytesIn(given, id, 'whole.car')))
      await drain(readCar(bytesIn(given, id, 'cut-between.car')))
      expect(await refusesImport(store, bytesIn(given, id, 'whole.car'), [5])).toContain('history')
      for (const name of ['bad-last', 'cut-between', 'cut-in-block', 'cut-in-length']) {
        const said = await refusesImport(store, bytesIn(given, id, `${name}.car`), [5])
        expect(said, name).toMatch(/last (?:good )?block baguqeera/)
      }
    })

    it('is refused when it is an export of ours', async () => {
      const { store, car } = await withThree(await makeTempFolder())
      const bytes = await readFile(car)
      const { start, before } = await lastSection(bytes)
      for (const end of [bytes.length - 9, start + 1, start]) {
        const said = await refusesImport(store, bytes.subarray(0, end), [5])
        expect(said).toContain(before)
      }
    })
  })

  describe('r16: a CAR of another store', () => {
    it('is refused, both named', async () => {
      const root = await makeTempFolder()
      const { car, full } = await withThree(path.join(root, 'p'))
      const q = await makeTestStore(path.join(root, 'q'))
      await putOne(q, 'R1', [])
      const said = await refusesImport(q, await readFile(car), [4, 9])
      expect(said).toContain(full.genesis)
      expect(said).toContain(q.genesis)
    })
  })

  describe('r27: a chain whose middle is not right', () => {
    const id = 'r27-middle-entry-invalid'
    it('is refused, the middle named', async () => {
      const store = await makeTestStore(await makeTempFolder())
      const head = text(bytesIn(given, id, 'missing-middle.car'))
      const [middle = ''] = /baguqeera[a-z2-7]{52}/.exec(head) ?? []
      for (const name of ['altered-middle.car', 'missing-middle.car']) {
        expect(await refusesImport(store, bytesIn(given, id, name), [5]), name).toContain(middle)
      }
    })
  })
}

async function drain(blocks: AsyncIterable<unknown>): Promise<void> {
  for await (const _block of blocks);
}

async function refusesImport(
  store: TestStore,
  bytes: Uint8Array,
  exits: readonly number[],
): Promise<string> {
  const before = await digestOf(store.store)
  const file = path.join(store.root, 'given.car')
  await writeFile(file, bytes)
  const { exit, err } = await store.run('import', file)
  expect({ exit, isRight: exits.includes(exit), err }).toMatchObject({ isRight: true })
  expect(await digestOf(store.store)).toBe(before)
  return err
}

/** A store with three revisions, its export, and a second store with the same genesis and none of them. */
async function withThree(
  root: string,
): Promise<{ readonly store: TestStore; readonly full: TestStore; readonly car: string }> {
  const store = await makeTestStore(path.join(root, 'base'))
  const full = await copyStore(store, path.join(root, 'full'))
  await putOne(full, 'R1', [])
  await putOne(full, 'R2', ['R1'])
  await putOne(full, 'R3', ['R2'])
  const car = path.join(full.root, 'all.car')
  await ok(full.run('export', car))
  return { store, full, car }
}

async function putOne(
  store: TestStore,
  revision: string,
  parents: readonly string[],
): Promise<void> {
  const small = { workspace: 'csag:handoff/case', revision, parents, author: agents.merger }
  await ok(store.run('put', await writeEnvelope(path.join(store.root, 'w'), small)))
}

async function lastSection(bytes: Uint8Array): Promise<{ start: number; before: string }> {
  const { blocks } = await openCar(bytes)
  const all: { cid: string; length: number }[] = []
  for await (const { cid, bytes: own } of blocks) all.push({ cid, length: own.length })
  const { cid, length } = all.at(-1)!
  const size = length + (cid.startsWith('bag') ? 37 : 36)
  return { start: bytes.length - size - (size < 0x80 ? 1 : 2), before: all.at(-2)!.cid }
}
