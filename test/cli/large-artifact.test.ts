import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, open, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { launcher } from '../support/cli.ts'
import { envelopeOf } from '../support/envelope.ts'
import type { TestStore } from '../support/store.ts'
import { agents, makeSharedFolder, makeTestStore } from '../support/store.ts'

const mib = 1024 * 1024
const isSoak = Boolean(process.env['HSTORE_SOAK'])
// more than the bound, so that whoever holds the artifact breaks it
const sizeBytes = (isSoak ? 1024 : 128) * mib
const peakMib = isSoak ? 150 : 120
const preload = new URL('../support/peak.mjs', import.meta.url).href

const shared = await makeSharedFolder()
const bundle = path.join(shared, 'bundle')
const handoff = path.join(bundle, 'handoff.json')
const hole = path.join(bundle, 'hole.bin')
let store: TestStore
let sha256 = ''
let artifact = ''
const revision = 'w/revision/R'

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'store'))
  const envelope = envelopeOf({
    workspace: 'w',
    revision: 'R',
    author: agents.merger,
    files: { 'hole.bin': 'in its place' },
  })
  await makeHole()
  sha256 = await digestOf(hole)
  const [paper, file] = envelope['source_artifacts'] as [object, object]
  envelope['source_artifacts'] = [paper, { ...file, sha256, byte_size: sizeBytes }]
  await writeFile(handoff, JSON.stringify(envelope))
})

describe(`an artifact of ${sizeBytes / mib} MiB`, () => {
  it('is validated, put, verified and resumed with flat memory', async () => {
    await flat('validate', handoff)
    const put = await flat('put', handoff, '--json')
    artifact = (JSON.parse(put.out) as { artifacts: { cid: string }[] }).artifacts[0]!.cid
    await flat('verify', '--all')
    await flat('show', artifact)
    const out = path.join(shared, 'resumed')
    await flat('resume', revision, '--out', out)
    expect((await stat(path.join(out, 'hole.bin'))).size).toBe(sizeBytes)
  })

  it('comes out as it went in, at the pace of whoever reads', async () => {
    expect((await flat('get', artifact)).sha256).toBe(sha256)
    const out = path.join(shared, 'laid-out')
    await flat('get', revision, '--out', out)
    expect(await digestOf(path.join(out, 'hole.bin'))).toBe(sha256)
  })
})

interface Measured {
  /** Of all that went to stdout. */
  readonly sha256: string
  /** What went to stdout, as far as it is no artifact. */
  readonly out: string
}

/** Runs a verb as a process of its own, which has to do well within the bound. */
async function flat(...argv: readonly string[]): Promise<Measured> {
  const peak = path.join(shared, 'peak')
  const child = spawn(process.execPath, ['--import', preload, launcher, ...argv], {
    cwd: bundle,
    env: { PATH: process.env['PATH'], ...store.env, HSTORE_PEAK: peak },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  const ended = once(child, 'close')
  // what is written before anybody reads has to wait there
  await sleep(300)
  const hash = createHash('sha256')
  let out = ''
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    hash.update(chunk)
    if (out.length < mib) out += chunk.toString('latin1')
  }
  const [exit] = (await ended) as [number]
  expect([argv[0], exit, exit === 0 ? '' : err]).toEqual([argv[0], 0, ''])
  const [peakKib = ''] = (await readFile(peak, 'utf8')).split(' ')
  expect(Number(peakKib) / 1024, argv[0]).toBeLessThan(peakMib)
  return { sha256: hash.digest('hex'), out }
}

/** A file that is all hole: it takes no room on disk and is as long to read as any other. */
async function makeHole(): Promise<void> {
  await mkdir(bundle, { recursive: true })
  await writeFile(hole, '')
  await truncate(hole, sizeBytes)
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  await using handle = await open(file)
  for await (const chunk of handle.createReadStream() as AsyncIterable<Buffer>) hash.update(chunk)
  return hash.digest('hex')
}
