import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCar } from '../../store/car.ts'
import { codeOf, readBytes, readIndex } from './read-index.ts'

interface CarCase {
  readonly file: string
  readonly hstore: 'accept' | 'either' | 'reject'
  readonly hstoreWhy?: string
}

/** The sets car and car-malformed, each file at once and in chunks of one, seven and 4,096 bytes. */
export function describeCar(folder: string): void {
  describe.each(['car', 'car-malformed'])('%s', (set) => {
    for (const { file, hstore, hstoreWhy } of readIndex<CarCase>(folder, set, 'index.jsonl')) {
      it(`${file}: ${hstore} ${hstoreWhy ?? ''}`, async () => {
        const bytes = readBytes(join(folder, set, file))
        const verdict = await verdictOfCar(bytes)
        if (hstore === 'accept') expect(verdict).toBe('accept')
        if (hstore === 'reject') expect(verdict).toBe('HSTORE_CAR_INVALID')
        for (const size of bytes.length < 10_000 ? [1, 7, 4096] : [4096]) {
          expect(await verdictOfCar(chunks(bytes, size))).toBe(verdict)
        }
      })
    }
  })
}

async function verdictOfCar(source: Iterable<Uint8Array> | Uint8Array): Promise<string> {
  try {
    for await (const { bytes } of readCar(source)) expect(bytes).toBeInstanceOf(Uint8Array)
    return 'accept'
  } catch (error) {
    return codeOf(error)
  }
}

function* chunks(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
