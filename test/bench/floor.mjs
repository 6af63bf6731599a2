// The floor: what hstore is made of and nothing else. Canonical JSON, sha2-256, one Ed25519 signature an entry and
// LevelDB, in plain code; no schema, no rules, no trust, no heads but one. It shows what the machine allows.
//
// A row: key = id of the entry, value = signature (64 bytes), id of the parent (32, zeros for the first), document.
// The id is the sha2-256 of parent and document, the signature is over the id.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify as verifies,
} from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Level } from 'level'

const group = 256
const gets = 5000
const tip = Buffer.from('tip')
const nobody = Buffer.alloc(32)
const durable = { sync: true }

/** Returns the operations; `envelope(i)` gives revision i, `now` milliseconds. */
export function floorOps({ envelope, now }) {
  async function append({ dir, n, mode }) {
    const { privateKey } = keyIn(dir)
    const documents = Array.from({ length: n }, (_, i) => envelope(i))
    const size = mode === 'each' ? 1 : group
    const ms = await inDatabase(dir, async (db) => {
      let parent = (await db.get(tip)) ?? nobody
      const t0 = now()
      for (let at = 0; at < n; at += size) {
        const rows = documents.slice(at, at + size).map((document) => {
          const { id, value } = entryOf(parent, Buffer.from(canonical(document)), privateKey)
          parent = id
          return { type: 'put', key: id, value }
        })
        await db.batch([...rows, { type: 'put', key: tip, value: parent }], durable)
      }
      return now() - t0
    })
    return { ops: n, ms }
  }

  async function verify({ dir }) {
    const { publicKey } = keyIn(dir)
    return inDatabase(dir, async (db) => {
      const t0 = now()
      const parents = []
      const ids = new Set()
      const iterator = db.iterator({ highWaterMarkBytes: 2 ** 21 })
      for (
        let rows = await iterator.nextv(256);
        rows.length > 0;
        rows = await iterator.nextv(256)
      ) {
        for (const [id, value] of rows) {
          if (id.length !== 32) continue
          ids.add(id.toString('hex'))
          const parent = checked(id, value, publicKey)
          if (!parent.equals(nobody)) parents.push(parent.toString('hex'))
        }
      }
      await iterator.close()
      if (!parents.every((parent) => ids.has(parent))) throw new Error('a parent is not there')
      return { ops: ids.size, ms: now() - t0 }
    })
  }

  async function get({ dir }) {
    return inDatabase(dir, async (db) => {
      const ids = (await db.keys().all()).filter((key) => key.length === 32)
      const t0 = now()
      for (let i = 0; i < gets; i++) {
        const value = await db.get(ids[Math.floor(Math.random() * ids.length)])
        JSON.parse(value.subarray(96).toString())
      }
      return { ops: gets, ms: now() - t0 }
    })
  }

  async function open({ dir }) {
    const t0 = now()
    return inDatabase(dir, async (db) => {
      JSON.parse((await db.get(await db.get(tip))).subarray(96).toString())
      return { ops: 1, ms: now() - t0 }
    })
  }

  return { append, verify, get, open }
}

function entryOf(parent, document, privateKey) {
  const id = idOf(parent, document)
  return { id, value: Buffer.concat([sign(null, id, privateKey), parent, document]) }
}

/** Checks hash, signature and canonical form of a row; returns the parent's id. */
function checked(id, value, publicKey) {
  const parent = value.subarray(64, 96)
  const document = value.subarray(96)
  if (!idOf(parent, document).equals(id)) throw new Error('a hash does not fit')
  if (!verifies(null, id, publicKey, value.subarray(0, 64))) throw new Error('a signature is bad')
  const text = document.toString()
  if (canonical(JSON.parse(text)) !== text) throw new Error('a document is not canonical')
  return parent
}

function idOf(parent, document) {
  return createHash('sha256').update(parent).update(document).digest()
}

/** Returns JSON with sorted keys; a copy in order is what the native serialiser needs. */
export function canonical(value) {
  return JSON.stringify(sorted(value))
}

function sorted(value) {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const copy = {}
  for (const key of Object.keys(value).sort()) copy[key] = sorted(value[key])
  return copy
}

async function inDatabase(dir, work) {
  const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
  const db = new Level(path.join(dir, 'db'), { ...encodings, writeBufferSize: 2 ** 24 })
  await db.open()
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

/** The key is beside the store, so that another process can verify. */
function keyIn(dir) {
  const file = path.join(dir, 'key.pem')
  if (!existsSync(file)) {
    mkdirSync(dir, { recursive: true })
    const { privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  }
  const privateKey = createPrivateKey(readFileSync(file))
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
