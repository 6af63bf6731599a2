// What is measured of hstore, through the library's own verbs. A store lives in `<dir>/store`, its keys and what this
// user trusts in `<dir>/keys`, so that a copy of `<dir>` works.
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** How many puts are in flight at once where they are not awaited one by one. */
export const groupSize = 256
const gets = 5000
const server = fileURLToPath(new URL('sync-server.mjs', import.meta.url))

/**
 * Returns the operations over a build.
 *
 * @param {object} parts - `openStore` and `init` of the build, `envelope(i)` that gives revision i of a chain, and `now`
 *   that gives milliseconds; `cloneStore` and `syncStore` where stores are synced.
 */
export function storeOps({ openStore, init, envelope, now, cloneStore, syncStore }) {
  async function made(dir, agent) {
    const { store, keys } = placesIn(dir)
    if (existsSync(path.join(store, 'config.json'))) return
    await mkdir(dir, { recursive: true })
    const unattended = { noPassphrase: true, passphrase: async () => undefined }
    await init({ store, cwd: dir, keys, agent, machine: 'bench', waitMs: 0, ...unattended })
  }

  async function inStore(dir, work) {
    const store = await openStore({ ...placesIn(dir), waitMs: 0 })
    try {
      return await work(store)
    } finally {
      await store.close()
    }
  }

  /** Puts revisions `start` to `start + n - 1`, each a child of the one before; mode `each` awaits every single one. */
  async function append({ dir, n, start = 0, mode = '' }) {
    await made(dir, envelope(start).created_by)
    const documents = Array.from({ length: n }, (_, i) => envelope(start + i))
    const size = mode === 'each' ? 1 : groupSize
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
    const how = size === 1 ? 'awaited one by one, a sync each' : `${size} puts at once share syncs`
    return { ops: n, ms, note: `durable, schema and rules checked; ${how}` }
  }

  /** Checks every block, all signatures anew. */
  async function verify({ dir }) {
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
  async function get({ dir }) {
    const cids = await inStore(dir, async (store) => {
      const { cid } = await headOf(store)
      return (await store.log(cid)).map(({ entry }) => entry.cid)
    })
    // opened again: the measured store has read nothing yet
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

  /** Opens a store and reads its one head. */
  async function open({ dir }) {
    const t0 = now()
    return inStore(dir, async (store) => {
      const head = await headOf(store)
      const { document } = await store.get(head.cid)
      const ms = now() - t0
      if (document.revision !== head.name) throw new Error('open: the head has another document')
      return { ops: 1, ms, note: 'in-process: open, rosters checked, heads, head document' }
    })
  }

  /**
   * Brings what `dir` has to `to`, a new store or a clone of it: two processes over a pipe, all checked and durable. What
   * goes over the pipe is counted by the process that serves.
   */
  async function sync({ dir, to }) {
    const from = placesIn(dir)
    const here = placesIn(to)
    const counts = path.join(here.keys, 'wire.json')
    await mkdir(here.keys, { recursive: true, mode: 0o700 })
    const words = [server, from.store, from.keys, counts]
    const ssh = [process.execPath, ...words]
    const url = `ssh://localhost${from.store}`
    const common = { cwd: here.store, nowMs: Date.now(), waitMs: 20_000, ssh }
    const isNew = !existsSync(path.join(here.store, 'config.json'))
    const { genesis } = JSON.parse(await readFile(path.join(from.store, 'config.json'), 'utf8'))
    const t0 = now()
    const ops = isNew
      ? await cloneEntries(url, { ...common, folder: here.store, keysFolder: here.keys, genesis })
      : await pullEntries(url, { ...common, ...here })
    const ms = now() - t0
    const { up, down } = JSON.parse(await readFile(counts, 'utf8'))
    const note =
      'two processes over a pipe, all checked, durable; with the start of the serving node'
    return { ops, ms, wireUp: up, wireDown: down, note }
  }

  /** The genesis is an entry too. */
  async function cloneEntries(url, options) {
    const { entries } = await cloneStore(url, options)
    return entries - 1
  }

  async function pullEntries(url, options) {
    const both = { pull: true, push: true, dryRun: false }
    return (await syncStore(url, { ...options, ...both })).pulled
  }

  return { append, verify, get, open, sync }
}

function placesIn(dir) {
  const root = path.resolve(dir)
  return { store: path.join(root, 'store'), keys: path.join(root, 'keys') }
}

async function headOf(store) {
  const heads = (await store.heads()).filter(({ stream }) => stream.startsWith('csag:'))
  if (heads.length !== 1) throw new Error(`one head wanted, there are ${heads.length}`)
  return heads[0].entry
}
