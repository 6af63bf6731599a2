// Puts hstore into a peer benchmark: HSTORE_ADAPTER=<this file> node <harness>/run.mjs --only hstore,floor
//
// The harness hands over neither a build nor its library: HSTORE names the build (default: this clone's dist),
// HSTORE_BENCH_LIB the folder with envelope.mjs and stats.mjs (default: `lib` beside the script that was started).
// A store lives in `<dir>/store`, its keys and what this user trusts in `<dir>/keys`, so that a copy of `<dir>` works.
import { existsSync, readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = path.dirname(fileURLToPath(import.meta.url))
const dist = path.resolve(process.env['HSTORE'] ?? path.join(here, '../../dist'))
const lib = path.resolve(
  process.env['HSTORE_BENCH_LIB'] ?? path.join(path.dirname(process.argv[1] ?? ''), 'lib'),
)
const load = (folder, file) => import(pathToFileURL(path.join(folder, file)).href)

const { envelope } = await load(lib, 'envelope.mjs')
const { now } = await load(lib, 'stats.mjs')
const { openStore } = await load(dist, 'src/open-store.js')
const { init } = await load(dist, 'src/init-verb.js')

const group = 256
const gets = 5000

/** Returns the versions of what is measured. */
export function versions() {
  const root = path.dirname(dist)
  const versionOf = (folder) => {
    try {
      return JSON.parse(readFileSync(path.join(root, folder, 'package.json'), 'utf8')).version
    } catch {
      return null
    }
  }
  return {
    hstore: versionOf('.'),
    level: versionOf('node_modules/level'),
    'classic-level': versionOf('node_modules/classic-level'),
  }
}

/** Puts envelopes `start` to `start + n - 1`, each a child of the one before; mode `each` waits for every single one. */
export async function append({ dir, n, start = 0, mode = '' }) {
  await made(dir, envelope(start).created_by)
  const documents = Array.from({ length: n }, (_, i) => envelope(start + i))
  const size = mode === 'each' ? 1 : group
  const ms = await inStore(dir, async (store) => {
    await store.heads()
    const t0 = now()
    for (let at = 0; at < n; at += size) {
      const puts = documents.slice(at, at + size).map((document) => store.put(document))
      for (const { new: isNew } of await Promise.all(puts)) {
        if (!isNew) throw new Error('a put found its document there already')
      }
    }
    return now() - t0
  })
  const how = size === 1 ? 'awaited one by one, a sync each' : `${size} puts at once share a sync`
  return { ops: n, ms, note: `durable, schema and rules checked; ${how}` }
}

/** The fastest durable way to make a store to read from. */
export function seed(options) {
  return append({ ...options, mode: '' })
}

/** Checks every block: hash, canonical form, signature, trust, links, indexes; nothing that was marked is believed. */
export async function verify({ dir }) {
  return inStore(dir, async (store) => {
    const t0 = now()
    const { ok, checked, findings } = await store.verify(undefined, true)
    const ms = now() - t0
    if (!ok || checked.signatures !== checked.entries) {
      throw new Error(`verify: ${findings[0]?.message ?? 'not every signature was checked'}`)
    }
    const note = `${checked.blocks} blocks: hash, canonical form, signature, trust, links, indexes`
    return { ops: checked.entries, ms, note }
  })
}

/** Gets documents at random by the CIDs of their entries. */
export async function get({ dir }) {
  const cids = await inStore(dir, entryCids)
  // another one, which has read nothing yet
  return inStore(dir, async (store) => {
    await store.heads()
    const t0 = now()
    for (let i = 0; i < gets; i++) {
      const { document } = await store.get(cids[Math.floor(Math.random() * cids.length)])
      if (document === undefined) throw new Error('get: no document came')
    }
    const ms = now() - t0
    return { ops: gets, ms, note: 'entry and body hashed, signature checked, document parsed' }
  })
}

/** Opens a store, with its rosters checked, and reads the one head and its document. */
export async function open({ dir }) {
  const t0 = now()
  return inStore(dir, async (store) => {
    const entry = await headOf(store)
    const { document } = await store.get(entry.cid)
    const ms = now() - t0
    if (document.revision !== entry.name) throw new Error('open: the head has another document')
    return { ops: 1, ms, note: 'in-process: open + rosters + heads + head document' }
  })
}

async function made(dir, agent) {
  const { store, keys } = placesIn(dir)
  if (existsSync(path.join(store, 'config.json'))) return
  await mkdir(dir, { recursive: true })
  const passphrase = async () => undefined
  await init({
    store,
    cwd: dir,
    keys,
    agent,
    machine: 'bench',
    waitMs: 0,
    noPassphrase: true,
    passphrase,
  })
}

async function inStore(dir, work) {
  const store = await openStore({ ...placesIn(dir), waitMs: 0 })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

function placesIn(dir) {
  const root = path.resolve(dir)
  return { store: path.join(root, 'store'), keys: path.join(root, 'keys') }
}

/** The entries of the one chain. */
async function entryCids(store) {
  const { cid } = await headOf(store)
  return (await store.log(cid)).map(({ entry }) => entry.cid)
}

async function headOf(store) {
  const heads = (await store.heads()).filter(({ stream }) => stream.startsWith('csag:'))
  if (heads.length !== 1) throw new Error(`one head wanted, there are ${heads.length}`)
  return heads[0].entry
}
