// `hstore put --batch` as a process of its own: its start, and all that it reads and prints, count.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { loadBuild } from './build.mjs'
import { author, envelope } from './envelope.mjs'
import { canonical } from './floor.mjs'
import { rowOf } from './large-run.mjs'

/** Puts `n` revisions, one a line, into a new store in `dir`, and returns what `one.mjs` prints of an operation. */
export async function putBatch(dir, n) {
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  const { init } = await loadBuild()
  const places = { store: path.join(dir, 'store'), keys: path.join(dir, 'keys'), waitMs: 0 }
  const quiet = { noPassphrase: true, passphrase: async () => undefined }
  await init({ ...places, cwd: dir, agent: author, machine: 'bench', ...quiet })
  const file = path.join(dir, 'lines.ndjson')
  writeFileSync(file, Array.from({ length: n }, (_, i) => `${canonical(envelope(i))}\n`).join(''))
  const { seconds, cpu, mib } = await rowOf('put --batch', dir, ['put', '--batch', file])
  return { ops: n, ms: seconds * 1000, cpuMs: cpu * 1000, rssMiB: mib }
}
