// Histories of many shapes, put through the library in groups.
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { loadBelow, loadBuild } from './build.mjs'
import { author, envelope } from './envelope.mjs'

const group = 256

/** By name: builds a store with about `size` revisions in `dir` and returns its row, stream and next documents. */
export const shapes = { history, fan, wide, streams, restated }

/** A chain; of every 50 the 10th forks from the 8th, and the 11th merges both. */
async function history(dir, size) {
  return built(dir, 'put all', historyOf(size), { next: (i) => historyAt(size + i) })
}

function* historyOf(size) {
  for (let i = 0; i < size; i++) yield historyAt(i)
}

function historyAt(i) {
  const at = i % 50
  const back = at === 10 ? [2] : at === 11 ? [1, 2] : [1]
  return {
    document: revision(i, i === 0 ? [] : back.map((by) => i - by)),
    fork: at === 10 ? i - 2 : undefined,
  }
}

/** A root, and heads that each follow it. */
async function fan(dir, size) {
  const heads = function* () {
    yield { document: revision(0, []) }
    for (let i = 1; i <= size; i++)
      yield { document: revision(i, [0]), fork: i > 1 ? 0 : undefined }
  }
  const last = revision(size, [0]).revision
  return built(dir, 'put all', heads(), {
    ref: last,
    next: (i) => ({ document: revision(size + 1 + i, [size + i]) }),
  })
}

/** A root, 256 heads that follow it, and one that merges them; then the same again, `size` revisions in all. */
async function wide(dir, size) {
  const rounds = Math.ceil(size / 257)
  const all = function* () {
    yield { document: revision(0, []) }
    for (let round = 0; round < rounds; round++) {
      const root = round * 257
      const children = Array.from({ length: 256 }, (_, i) => root + 1 + i)
      for (const i of children)
        yield { document: revision(i, [root]), fork: i > root + 1 ? root : undefined }
      yield { document: revision(root + 257, children) }
    }
  }
  const last = rounds * 257
  return built(dir, 'put all', all(), {
    next: (i) => ({ document: revision(last + 1 + i, [last + i]) }),
  })
}

/** Streams of 100 revisions each. */
async function streams(dir, size) {
  const each = 100
  const all = function* () {
    for (let i = 0; i < size; i++) yield { document: inStream(Math.floor(i / each), i % each) }
  }
  const stream = inStream(0, 0).id
  return built(dir, 'put all', all(), {
    stream,
    next: (i) => ({ document: inStream(0, each + i) }),
  })
  function inStream(stream, i) {
    const document = revision(i, i === 0 ? [] : [i - 1])
    return JSON.parse(
      JSON.stringify(document).replaceAll('csag:handoff/bench', `csag:handoff/bench-${stream}`),
    )
  }
}

/** One document that its author stated `size` times, past what `put` would do, and one that follows it. */
async function restated(dir, size) {
  const first = { document: revision(0, []) }
  const next = (i) => ({ document: revision(1 + i, [i]) })
  const made = await built(dir, 'state all', [first], { ref: envelope(0).revision, next })
  const { getEntry, openContext, openSigner, keyPath, planRows, rowOf, seal } = await loadBelow()
  const keys = path.join(dir, 'keys')
  const signer = await openSigner(keyPath(keys, author), undefined)
  const started = performance.now()
  const store = { folder: path.join(dir, 'store'), keysFolder: keys, waitMs: 0 }
  const context = await openContext(store)
  const { db } = context
  let entry = await getEntry(context, db.readRow('heads', made.stream)[0])
  for (let i = 1; i < size; i++) {
    const sealed = seal({ ...entry, prev: [entry.cid], seq: entry.seq + 1 }, signer)
    entry = sealed.entry
    const rows = planRows((index, key) => db.readRow(index, key), rowOf(entry))
    const written = db.commit({ blocks: [sealed.block], rows })
    if (i % group === 0) await written
  }
  await db.flushed()
  await db.close()
  return { ...made, seconds: (performance.now() - started) / 1000 }
}

function revision(i, parents) {
  const document = envelope(i)
  const names = parents.map((parent) => envelope(parent).revision)
  return { ...document, parents: names }
}

async function built(dir, title, all, { stream, ref, next }) {
  const { openStore, init } = await loadBuild()
  const places = { store: path.join(dir, 'store'), keys: path.join(dir, 'keys') }
  await mkdir(dir, { recursive: true })
  const unattended = { noPassphrase: true, passphrase: async () => undefined }
  await init({ ...places, cwd: dir, agent: author, machine: 'bench', waitMs: 0, ...unattended })
  const store = await openStore({ ...places, waitMs: 0 })
  const started = performance.now()
  const cpuBefore = process.cpuUsage()
  try {
    const cids = new Map()
    let waiting = []
    const settle = async () => {
      for (const { revision: name, cid } of await Promise.all(waiting)) cids.set(name, cid)
      waiting = []
    }
    for (const { document, fork } of all) {
      const isKnown = document.parents.every((name) => cids.has(name))
      if (waiting.length >= group || (fork !== undefined && !isKnown)) await settle()
      const parents = fork === undefined ? [] : document.parents.map((name) => cids.get(name))
      waiting.push(store.put(document, fork === undefined ? {} : { parents }))
    }
    await settle()
  } finally {
    await store.close()
  }
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  const cpu = (user + system) / 1_000_000
  const name = stream ?? envelope(0).id
  return { title, seconds, cpu, stream: `csag:${name}`, ref: ref ?? `csag:${name}`, next }
}
