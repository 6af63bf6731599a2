// Runs bin/hstore as a process of its own and tells its wall time and peak memory.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { dist } from './build.mjs'

const peak = new URL('../support/peak.mjs', import.meta.url).href
const hstore = path.join(path.dirname(dist), 'bin/hstore')

/**
 * Returns seconds of wall time and of CPU, peak MiB, those of its own, and how one run ended.
 *
 * @param dir - Holds `store` and `keys`.
 * @param {readonly string[]} argv
 * @param {{ out?: string, pipe?: boolean }} to - The file that stdout goes to, one in `dir` when absent; or a pipe.
 */
async function runVerb(dir, argv, { out = path.join(dir, 'stdout'), pipe = false }) {
  const peakFile = path.join(dir, 'peak')
  const fd = openSync(out, 'w')
  const started = performance.now()
  const child = spawn(process.execPath, ['--import', peak, hstore, ...argv], {
    stdio: ['ignore', pipe ? 'pipe' : fd, 'pipe'],
    env: {
      ...process.env,
      HSTORE_PEAK: peakFile,
      HSTORE_STORE: path.join(dir, 'store'),
      HSTORE_KEYS: path.join(dir, 'keys'),
    },
  })
  let err = ''
  child.stderr.on('data', (chunk) => (err += chunk))
  child.stdout?.resume()
  let own = 0
  const sampling = setInterval(() => (own = Math.max(own, ownMib(child.pid))), 20)
  const [exit] = await once(child, 'close')
  const seconds = (performance.now() - started) / 1000
  closeSync(fd)
  clearInterval(sampling)
  const [peakKib, cpuMs] = readFileSync(peakFile, 'utf8').split(' ').map(Number)
  rmSync(peakFile)
  return { seconds, cpu: cpuMs / 1000, mib: peakKib / 1024, own, exit, err }
}

/** Returns a row of the table for a run that must end with `exit`. */
export async function rowOf(title, dir, argv, { exit = 0, ...to } = {}) {
  const run = await runVerb(dir, argv, to)
  if (run.exit !== exit) {
    throw new Error(`${title}: exit ${run.exit}: ${run.err.slice(0, 500)}`)
  }
  return { title, ...run }
}

/** Memory of its own: without what it maps from files, as LevelDB does with all of a database that it reads. */
function ownMib(pid) {
  try {
    return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024
  } catch {
    return 0
  }
}
