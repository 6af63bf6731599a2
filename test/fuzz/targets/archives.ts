import { openCar } from '../../../store/car-read.ts'
import { writeCarBlocks } from '../../../store/car-write.ts'
import { encodeForm } from '../../../store/canonical.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import { parseCid } from '../../../store/cid.ts'
import { decodeRow, encodeRow } from '../../../store/keyspace.ts'
import type { SeedFolder } from '../seeds.ts'
import type { Target } from '../target.ts'
import {
  byteMutator,
  bytesOfText,
  codeOf,
  expectSame,
  expectThat,
  jsonMutator,
  textOfBytes,
  verdictOf,
} from '../target.ts'

/** Archives, CIDs, and the rows of the database. */
export async function archiveTargets(seeds: SeedFolder): Promise<Target[]> {
  const bytes = [{ n: 1 }, { n: 2 }].map((form) => encodeForm(form))
  const blocks = bytes.map((block) => ({ cid: cidTextOf(block, 'dag-json'), bytes: block }))
  const raw = bytesOfText('any bytes')
  const all = [...blocks, { cid: cidTextOf(raw, 'raw'), bytes: raw }]
  const cids = all.map(({ cid }) => cid)
  const cars = await Promise.all([cids.slice(0, 1), cids].map((roots) => collect(roots, all)))
  const given = ['car', 'car-malformed'].flatMap((set) => seeds.vectors(set, /\.car$/))
  const rows = [[], cids, ['a', 'ä\u0000']].map((row) => bytesOfText(encodeRow(row)))
  return [
    { name: 'car', share: 100, seeds: [...cars, ...given], mutate: byteMutator, run: runCar },
    { name: 'cid', share: 100, seeds: cids.map(bytesOfText), mutate: byteMutator, run: runCid },
    { name: 'row', share: 100, seeds: rows, mutate: jsonMutator, run: runRow },
  ]
}

async function collect(
  roots: readonly CidText[],
  blocks: readonly { readonly cid: CidText; readonly bytes: Uint8Array }[],
): Promise<Uint8Array> {
  return Buffer.concat(await chunksOf(roots, blocks))
}

async function chunksOf(
  roots: readonly CidText[],
  blocks: readonly { readonly cid: CidText; readonly bytes: Uint8Array }[],
): Promise<Uint8Array[]> {
  const chunks: Uint8Array[] = []
  for await (const chunk of writeCarBlocks(roots, blocks)) chunks.push(chunk)
  return chunks
}

async function runCar(bytes: Uint8Array): Promise<string> {
  try {
    const { roots, blocks } = await openCar(bytes)
    const read = []
    for await (const block of blocks) read.push(block)
    const chunks = await chunksOf(roots, read)
    expectSpelling(bytes, chunks)
    return 'accepted'
  } catch (error) {
    return codeOf(error)
  }
}

/** A block may come again in a file, and is left out when it is written; all else has one spelling. */
function expectSpelling(bytes: Uint8Array, chunks: readonly Uint8Array[]): void {
  const file = Buffer.from(bytes)
  let at = 0
  let next = 0
  while (at < file.length) {
    const fits = (chunk: Uint8Array): boolean =>
      file.subarray(at, at + chunk.length).equals(Buffer.from(chunk))
    const chunk = next < chunks.length && fits(chunks[next]!) ? chunks[next++]! : undefined
    const found = chunk ?? chunks.slice(1, next).find(fits)
    expectThat('car: comes out otherwise', found !== undefined)
    at += found?.length ?? file.length
  }
  expectThat('car: a block came from nowhere', next === chunks.length)
}

function runCid(bytes: Uint8Array): string {
  const text = textOfBytes(bytes)
  return verdictOf(() => {
    if (parseCid(text).toString() !== text) throw new Error('cid: comes out otherwise')
  })
}

function runRow(bytes: Uint8Array): string {
  const row = decodeRow(textOfBytes(bytes))
  if (row === undefined) return 'no row'
  const text = encodeRow(row)
  expectSame('row', bytesOfText(encodeRow(decodeRow(text) ?? [])), bytesOfText(text))
  return 'accepted'
}
