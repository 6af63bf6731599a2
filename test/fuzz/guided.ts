import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Target } from './target.ts'
import { makeTargets } from './targets/all.ts'

const root = process.env['HSTORE_FUZZ_ROOT'] ?? '.'
const wanted = process.env['HSTORE_FUZZ_TARGET']
const folder = mkdtempSync(path.join(tmpdir(), 'hstore-fuzz-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const found = makeTargets(root, process.env['HSTORE_VECTORS'], folder).then((targets) =>
  targets.find(({ name }) => name === wanted),
)
let target: Target | undefined

/** Hands bytes to the target that `HSTORE_FUZZ_TARGET` names; throws for a fault, as the coverage-guided fuzzer wants. */
export async function fuzz(data: Uint8Array): Promise<void> {
  target ??= await found
  if (target === undefined) throw new Error(`no target ${wanted}`)
  await target.run(new Uint8Array(data))
}

/** Writes a target's seeds into a folder, a file each. */
export async function writeSeeds(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  const seeds = (await found)?.seeds ?? []
  for (const [i, seed] of seeds.entries()) writeFileSync(path.join(folder, `seed-${i}`), seed)
}
