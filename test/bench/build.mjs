// The build that is measured: HSTORE names its folder, else it is this clone's dist.
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = path.dirname(fileURLToPath(import.meta.url))

/** The build's folder. */
export const dist = path.resolve(process.env['HSTORE'] ?? path.join(here, '../../dist'))

const load = (file) => import(pathToFileURL(path.join(dist, file)).href)

/** Returns the verbs that sync a store with another. */
export async function loadSync() {
  return load('src/sync-verbs.js')
}

/**
 * Returns what the benchmarks call of the build. The database's code is loaded too, as that of whatever hstore is held
 * against: what is measured in process is work, not the loading of files.
 */
export async function loadBuild() {
  const [{ openStore }, { init }] = await Promise.all([
    load('src/open-store.js'),
    load('src/init-verb.js'),
  ])
  await import(createRequire(path.join(dist, 'store/database.js')).resolve('level'))
  return { openStore, init }
}

/** Returns what a history is made of that no verb would make. */
export async function loadBelow() {
  const files = ['context', 'entry/row', 'entry/seal'].map((name) => `src/${name}.js`)
  const below = ['keys/key-ring.js', 'keys/signer.js', 'store/indexes.js']
  const loaded = await Promise.all([...files, ...below].map(load))
  return Object.assign({}, ...loaded)
}

/** Returns the versions of the build and of its database. */
export function versionsOf() {
  const of = (folder) => {
    try {
      const file = path.join(path.dirname(dist), folder, 'package.json')
      return JSON.parse(readFileSync(file, 'utf8')).version
    } catch {
      return null
    }
  }
  const [level, classic] = ['level', 'classic-level'].map((name) => of(`node_modules/${name}`))
  return { hstore: of('.'), level, 'classic-level': classic }
}
