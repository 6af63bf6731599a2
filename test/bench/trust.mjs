// What trust costs, in one run: node test/bench/trust.mjs [--n 10000] [--large 100000] [--rounds 5] [--check]
//
// `verify` over the same documents by one agent and by 50, with rosters and cuts between; then what a new roster takes
// over a large store. Each timing runs in a process of its own, the two stores in turn, so that ratios hold.
import { spawnSync } from 'node:child_process'
import crypto from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { dist } from './build.mjs'
import { envelope } from './envelope.mjs'
import { median, short } from './figures.mjs'

let verified = 0
const verifyOnce = crypto.verify
crypto.verify = (...of) => {
  verified += 1
  return verifyOnce(...of)
}
syncBuiltinESMExports()

const { openStore } = await load('src/open-store.js')
const { init } = await load('src/init-verb.js')
const { newKeyFor } = await load('src/key-verbs.js')
const { openContext } = await load('src/context.js')
const { openKey } = await load('src/keyring.js')
const { submit, successorOf } = await load('src/roster/submit.js')
const { withKey } = await load('src/roster/change.js')

const agents = 50
const closed = 10
const atMost = { ratio: 1.3, seconds: 2 }
const quiet = async () => undefined

const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '10000' },
    large: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    check: { type: 'boolean', default: false },
    measure: { type: 'string' },
    dir: { type: 'string' },
  },
})

if (values.measure !== undefined)
  console.log(JSON.stringify(await measure(values.measure, values.dir)))
else await main()

async function main() {
  const folder = mkdtempSync(path.join(tmpdir(), 'hstore-bench-trust-'))
  try {
    const n = Number(values.n)
    const plain = path.join(folder, 'plain')
    const many = path.join(folder, 'many')
    await makeStore(plain, 1, n)
    await makeStore(many, agents, n)
    await closeKeys(many)
    const times = { plain: [], many: [] }
    for (let round = 0; round < Number(values.rounds); round++) {
      times.plain.push(run('verify', plain).seconds)
      times.many.push(run('verify', many).seconds)
    }
    const ratio = median(times.many) / median(times.plain)
    const versions = run('version', many).version + 1
    console.log(`verify of ${n} entries: ${short(median(times.plain))} s with one agent`)
    const told = `${agents} agents, ${versions} roster versions, ${closed} cuts`
    console.log(`  with ${told}: ${short(median(times.many))} s`)
    console.log(`  ${short(ratio)} times (at most ${atMost.ratio})`)
    const large = path.join(folder, 'large')
    await makeStore(large, 1, Number(values.large))
    run('settle', large) // what was put is on its way through the database for a while
    const alias = run('alias', large)
    const cut = run('revoke', large)
    console.log(`a new roster over ${values.large} entries: ${short(alias.seconds)} s`)
    console.log(`  with a cut as of head: ${short(cut.seconds)} s (at most ${atMost.seconds})`)
    console.log(`  signatures checked: ${alias.signatures} and ${cut.signatures}, of rosters`)
    const isMissed = ratio > atMost.ratio || alias.seconds > atMost.seconds
    if (values.check && isMissed) process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(what, dir) {
  const argv = [fileURLToPath(import.meta.url), '--measure', what, '--dir', dir]
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' })
  if (status === 0) return JSON.parse(stdout)
  throw new Error(`${what} ended with ${status}: ${stderr}`)
}

/** One thing timed in a process of its own. */
async function measure(what, dir) {
  const store = await openStore({ store: path.join(dir, 'store'), keys: path.join(dir, 'keys') })
  const start = performance.now()
  try {
    if (what === 'verify') await expectOk(store.verify(undefined, true))
    if (what === 'alias')
      await store.rosters.make({ change: 'alias', agent: nameOf(0), alias: 'bench' })
    if (what === 'revoke') await store.rosters.make(closing(await didOf(store, 0), nameOf(0)))
    const seconds = (performance.now() - start) / 1000
    const { version } = await store.roster()
    return { seconds, version, signatures: verified }
  } finally {
    await store.close()
  }
}

async function expectOk(verifying) {
  const { ok, findings } = await verifying
  if (!ok) throw new Error(`verify found ${findings[0]?.message}`)
}

function nameOf(i) {
  return `csag:agent/bench-${i}`
}

async function didOf(store, i) {
  const { agents: all } = await store.roster()
  return all.find(({ id }) => id === nameOf(i)).keys[0].did
}

function closing(did, agent) {
  const place = { at: 'head', except: [] }
  return { change: 'revoke', agent, did, which: undefined, grants: [], place }
}

/** A store of `n` envelopes in as many workspaces as there are agents in the larger one, by `count` agents. */
async function makeStore(dir, count, n) {
  const places = { store: path.join(dir, 'store'), keys: path.join(dir, 'keys') }
  const unattended = { noPassphrase: true, passphrase: quiet }
  await init({ ...places, cwd: dir, agent: nameOf(0), machine: 'bench', waitMs: 0, ...unattended })
  await addAgents(places, count)
  for (let i = 0; i < agents; i++) {
    const author = nameOf(i % count)
    await withStore(places, author, async (store) => {
      const each = Math.ceil(n / agents)
      for (let at = 0; at < each; at += 256) {
        const puts = Array.from({ length: Math.min(256, each - at) }, (_, k) =>
          store.put(documentOf(i, at + k, author)),
        )
        await Promise.all(puts)
      }
    })
  }
}

/** All agents in nine versions of the roster: no verb adds several at once. */
async function addAgents({ store: folder, keys: keysFolder }, count) {
  const signer = await openKey(keysFolder, nameOf(0), quiet)
  for (let from = 1; from < count; from += 6) {
    const context = await openContext({ folder, keysFolder, waitMs: 0 })
    let next = successorOf(context.trust)
    for (let i = from; i < Math.min(count, from + 6); i++) {
      const { did } = await newKeyFor(keysFolder, nameOf(i), true, quiet)
      const grants = [{ kinds: ['*'], streams: ['*'], until: undefined }]
      next = withKey(next, nameOf(i), { did, level: 'file', machine: 'bench', grants })
    }
    await submit(context, signer, next, [])
    await context.db.close()
  }
}

/** Revision `i` of workspace `w`, as that author has it. */
function documentOf(w, i, author) {
  const text = JSON.stringify(envelope(i))
  return JSON.parse(
    text
      .replaceAll('csag:handoff/bench', `csag:handoff/bench-${w}`)
      .replaceAll('csag:agent/bench', author),
  )
}

async function closeKeys(dir) {
  const places = { store: path.join(dir, 'store'), keys: path.join(dir, 'keys') }
  await withStore(places, nameOf(0), async (store) => {
    for (let i = 1; i <= closed; i++)
      await store.rosters.make(closing(await didOf(store, i), nameOf(i)))
  })
}

async function withStore(places, agent, work) {
  const store = await openStore({ ...places, agent, waitMs: 0 })
  try {
    await work(store)
  } finally {
    await store.close()
  }
}

function load(file) {
  return import(pathToFileURL(path.join(dist, file)).href)
}
