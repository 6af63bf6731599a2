// Puts hstore into a peer benchmark: HSTORE_ADAPTER=<this file> node <harness>/run.mjs --only hstore,floor
//
// HSTORE names the build (else this clone's dist), HSTORE_BENCH_LIB the harness's folder with envelope.mjs and stats.mjs
// (else `lib` beside the script that was started).
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { loadBuild, loadSync, versionsOf } from './build.mjs'
import { storeOps } from './store-ops.mjs'

const lib = path.resolve(
  process.env['HSTORE_BENCH_LIB'] ?? path.join(path.dirname(process.argv[1] ?? ''), 'lib'),
)
const load = (file) => import(pathToFileURL(path.join(lib, file)).href)
const [{ envelope }, { now }] = await Promise.all([load('envelope.mjs'), load('stats.mjs')])
const ops = storeOps({ ...(await loadBuild()), ...(await loadSync()), envelope, now })

export const { append, verify, get, open, sync } = ops

/** The fastest durable way to make a store to read from. */
export function seed(options) {
  return append({ ...options, mode: '' })
}

export function versions() {
  return versionsOf()
}
