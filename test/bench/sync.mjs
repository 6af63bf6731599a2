// What a sync costs over HTTP on loopback, in one run: node test/bench/sync.mjs [--n 10000] [--mib 1024]
//
// 10 new entries among `n` common ones, `n` entries into an empty store, a large artifact, and puts beside a server that
// runs. `git fetch` of as many commits and `cp` of as many bytes are timed in the same run. Each side is a process of its
// own; between them stands a proxy that counts bytes and requests.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { dist, loadBuild } from './build.mjs'
import { author, envelope } from './envelope.mjs'
import { median, short } from './figures.mjs'
import { rowOf } from './large-run.mjs'

const hstore = path.join(path.dirname(dist), 'bin/hstore')
const { values } = parseArgs({
  options: { n: { type: 'string', default: '10000' }, mib: { type: 'string', default: '1024' } },
})
const n = Number(values.n)
const mib = Number(values.mib)
const folder = mkdtempSync(path.join(tmpdir(), 'hstore-bench-sync-'))
const at = (name) => path.join(folder, name)

try {
  await main()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function main() {
  const { genesis, seconds: putSeconds } = await makeStore(at('base'), n)
  const verify = await rowOf('verify', at('base'), ['verify', '--all'])
  cpSync(at('base'), at('there'), { recursive: true })
  // fingerprints of ranges are remembered when they are asked for first
  await rowOf('warm', at('base'), ['sync', path.join(at('there'), 'store'), '--dry-run'])
  const bare = await rowOf('start', at('base'), ['--version'])
  await addEntries(at('there'), n, 10)
  await withServer(at('there'), async (served) => {
    const few = await rowOf('10 new', at('base'), ['sync', served.url])
    const { bytes, requests } = served.take()
    const ms = Math.round((few.seconds - bare.seconds) * 1000)
    console.log(`10 new among ${n}: ${bytes} bytes, ${requests} requests, ${ms} ms over start-up`)
    mkdirSync(at('empty'))
    cpSync(path.join(at('base'), 'keys'), path.join(at('empty'), 'keys'), { recursive: true })
    const clone = ['clone', served.url, '--genesis', genesis, '--as', author]
    const all = await rowOf('clone', at('empty'), clone)
    const whole = served.take()
    const git = gitFetch(n)
    const local = putSeconds + verify.seconds
    console.log(
      `${n} into an empty store: ${short(all.seconds)} s, ${whole.bytes} bytes, ${whole.requests} requests`,
    )
    console.log(`  peak ${Math.round(all.mib)} MiB there and ${served.peakMib()} MiB at the server`)
    console.log(
      `  put and verify of the same: ${short(local)} s, ${short(local / all.seconds)} times as long`,
    )
    console.log(`  git fetch of as many commits: ${short(git)} s`)
  })
  await largeArtifact()
  await putsBeside()
}

async function makeStore(dir, count) {
  const { init } = await loadBuild()
  mkdirSync(dir)
  const places = { store: path.join(dir, 'store'), keys: path.join(dir, 'keys'), waitMs: 0 }
  const quiet = { noPassphrase: true, passphrase: async () => undefined }
  const made = await init({ ...places, cwd: dir, agent: author, machine: 'bench', ...quiet })
  const start = performance.now()
  await addEntries(dir, 0, count)
  return { genesis: made.genesis, seconds: (performance.now() - start) / 1000 }
}

async function addEntries(dir, from, count) {
  const { openStore } = await loadBuild()
  const places = { store: path.join(dir, 'store'), keys: path.join(dir, 'keys') }
  const store = await openStore({ ...places, agent: author, waitMs: 0 })
  try {
    for (let i = from; i < from + count; i += 256) {
      const some = Math.min(256, from + count - i)
      await Promise.all(Array.from({ length: some }, (_, k) => store.put(envelope(i + k))))
    }
  } finally {
    await store.close()
  }
}

function startIn(dir, ...argv) {
  const places = { HSTORE_STORE: path.join(dir, 'store'), HSTORE_KEYS: path.join(dir, 'keys') }
  const env = { ...process.env, ...places }
  return spawn(process.execPath, [hstore, ...argv], { env, stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Runs something beside a server and a proxy before it. */
async function withServer(dir, use) {
  const child = startIn(dir, 'serve', '--listen', '127.0.0.1:0')
  const [said] = await once(child.stdout, 'data')
  const { port } = new URL(String(said).trim())
  let bytes = 0
  let requests = 0
  const proxy = createServer((socket) => {
    const there = connect(Number(port), '127.0.0.1')
    for (const one of [socket, there]) one.on('error', () => undefined)
    socket.on('data', (chunk) => {
      bytes += chunk.length
      if (chunk.subarray(0, 5).toString('latin1') === 'POST ') requests += 1
    })
    there.on('data', (chunk) => (bytes += chunk.length))
    socket.pipe(there).pipe(socket)
  })
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const served = {
    url: `http://127.0.0.1:${proxy.address().port}`,
    take() {
      const taken = { bytes, requests }
      bytes = 0
      requests = 0
      return taken
    },
    peakMib: () => peakOf(child.pid),
  }
  try {
    return await use(served)
  } finally {
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
    proxy.close()
  }
}

function peakOf(pid) {
  const [, kib] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
  return Math.round(Number(kib) / 1024)
}

/** Seconds that `git fetch` takes for as many commits, each of a document like ours. */
function gitFetch(count) {
  for (const name of ['git-there', 'git-here'])
    execFileSync('git', ['init', '-q', '--bare', at(name)])
  const file = at('commits')
  for (let i = 0; i < count; i++) {
    const text = JSON.stringify(envelope(i))
    const who = `bench <bench@example.org> ${1_700_000_000 + i} +0000`
    const message = `revision ${i}`
    const head = `commit refs/heads/main\ncommitter ${who}\ndata ${message.length}\n${message}\n`
    const blob = `M 644 inline envelope.json\ndata ${Buffer.byteLength(text)}\n${text}\n`
    appendFileSync(file, head + blob)
  }
  const input = openSync(file)
  spawnSync('git', ['-C', at('git-there'), 'fast-import'], { stdio: [input, 'pipe', 'pipe'] })
  closeSync(input)
  const start = performance.now()
  execFileSync('git', [
    '-C',
    at('git-here'),
    'fetch',
    '-q',
    `file://${at('git-there')}`,
    'main:main',
  ])
  return (performance.now() - start) / 1000
}

async function largeArtifact() {
  await makeStore(at('large-there'), 0)
  cpSync(at('large-there'), at('large-here'), { recursive: true })
  const file = path.join(folder, 'large.bin')
  execFileSync('dd', ['if=/dev/urandom', `of=${file}`, 'bs=1M', `count=${mib}`, 'status=none'])
  const document = envelope(0)
  const sum = execFileSync('sha256sum', [file]).toString().split(' ')[0]
  document.source_artifacts.push({
    id: 'csag:handoff/bench/artifact/large',
    artifact_role: 'dataset',
    artifact_path: 'large.bin',
    sha256: sum,
    byte_size: mib * 1024 * 1024,
  })
  writeFileSync(at('large.json'), JSON.stringify(document))
  await rowOf('put', at('large-there'), ['put', at('large.json'), '--as', author])
  const start = performance.now()
  execFileSync('cp', [file, `${file}.copy`])
  const cp = (performance.now() - start) / 1000
  await withServer(at('large-there'), async (served) => {
    const sync = await rowOf('sync', at('large-here'), ['sync', served.url])
    const { requests } = served.take()
    console.log(
      `${mib} MiB of one artifact: ${short(sync.seconds)} s, ${requests} requests; cp: ${short(cp)} s`,
    )
    console.log(
      `  peak ${Math.round(sync.mib)} MiB there and ${served.peakMib()} MiB at the server`,
    )
  })
}

/** Milliseconds of a put, alone and beside a server that is asked all the time. */
async function putsBeside() {
  cpSync(at('large-here'), at('beside'), { recursive: true })
  const timed = async (from) => {
    const times = []
    for (let i = from; i < from + 15; i++) {
      writeFileSync(at('one.json'), JSON.stringify(envelope(i)))
      const { seconds } = await rowOf('put', at('beside'), ['put', at('one.json'), '--as', author])
      times.push(seconds * 1000)
    }
    return { middle: Math.round(median(times)), most: Math.round(Math.max(...times)) }
  }
  const alone = await timed(1)
  const beside = await withServer(at('beside'), () => timed(16))
  console.log(
    `put: ${alone.middle} ms (most ${alone.most}), beside a server ${beside.middle} ms (most ${beside.most})`,
  )
}
