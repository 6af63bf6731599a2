// One large artifact, in and out, beside `cp` and `sha256sum` of the same file.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createHash, randomFillSync } from 'node:crypto'
import path from 'node:path'
import { loadBuild } from './build.mjs'
import { author, envelope } from './envelope.mjs'
import { rowOf } from './large-run.mjs'

const mib = 1024 * 1024

/** Returns rows for an artifact of `size` MiB of chance. */
export async function measureFile(dir, size) {
  const bundle = path.join(dir, 'bundle')
  mkdirSync(bundle)
  const file = path.join(bundle, 'big.bin')
  const sha256 = await writeChance(file, size)
  const { init } = await loadBuild()
  const places = { store: path.join(dir, 'store'), keys: path.join(dir, 'keys'), cwd: dir }
  const unattended = { noPassphrase: true, passphrase: async () => undefined, waitMs: 0 }
  await init({ ...places, agent: author, machine: 'bench', ...unattended })
  const handoff = path.join(bundle, 'handoff.json')
  const document = envelope(0)
  document.source_artifacts.push({
    id: `${document.id}/artifact/big`,
    artifact_role: 'dataset',
    artifact_path: 'big.bin',
    sha256,
    byte_size: size * mib,
  })
  writeFileSync(handoff, JSON.stringify(document))
  const copy = path.join(dir, 'copy')
  const rows = [await toolRow('cp', [file, copy]), await toolRow('sha256sum', [file])]
  rmSync(copy)
  const measure = async (title, argv, options) => {
    rows.push(await rowOf(title, dir, argv, options))
  }
  await measure('validate FILE', ['validate', handoff])
  await measure('put', ['put', handoff, '--json'])
  const { artifacts } = JSON.parse(readFileSync(path.join(dir, 'stdout'), 'utf8'))
  const { cid } = artifacts.find(({ size: bytes }) => bytes === size * mib)
  const out = path.join(dir, 'big')
  await measure('get ARTIFACT > file', ['get', cid], { out })
  rmSync(out)
  await measure('get ARTIFACT to a pipe', ['get', cid], { pipe: true })
  await measure('show ARTIFACT', ['show', cid])
  const ref = envelope(0).revision
  await measure('get REF --out', ['get', ref, '--out', path.join(dir, 'out-1')])
  rmSync(path.join(dir, 'out-1'), { recursive: true })
  await measure('verify REF', ['verify', ref])
  await measure('verify --all', ['verify', '--all'])
  await measure('validate REF', ['validate', ref])
  await measure('resume', ['resume', ref, '--no-certificate'])
  await measure('resume --out', ['resume', ref, '--out', path.join(dir, 'out-2')])
  rmSync(path.join(dir, 'out-2'), { recursive: true })
  await measure('put again', ['put', handoff])
  return rows
}

async function writeChance(file, size) {
  const hash = createHash('sha256')
  const out = createWriteStream(file)
  for (let i = 0; i < size; i++) {
    const chunk = randomFillSync(Buffer.allocUnsafe(mib))
    hash.update(chunk)
    if (!out.write(chunk)) await once(out, 'drain')
  }
  out.end()
  await finished(out)
  return hash.digest('hex')
}

async function toolRow(tool, argv) {
  const started = performance.now()
  const child = spawn(tool, argv, { stdio: ['ignore', 'ignore', 'inherit'] })
  await once(child, 'close')
  return { title: tool, seconds: (performance.now() - started) / 1000 }
}
