// How lanes grow: node test/bench/lanes.mjs [--sizes 500,1000,5000,10000] [--shapes honest,signals,…] [--folder DIR]
//
// Builds a store with a lane of each size, an offer, a signal, an ack and a commit in every 33 entries and statuses
// between, then runs the verbs of a lane as processes of their own. Then folds lanes of each size in this process,
// without a store: `honest`, and lanes that somebody has spoilt on purpose (see lanes-shapes.mjs).
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { dist, versionsOf } from './build.mjs'
import { short, table } from './figures.mjs'
import { agents, buildLane, lane } from './lanes-build.mjs'
import { foldTimes, shapes } from './lanes-shapes.mjs'
import { rowOf } from './large-run.mjs'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '500,1000,5000,10000' },
    shapes: { type: 'string', default: Object.keys(shapes).join() },
    folder: { type: 'string', default: tmpdir() },
  },
})
const sizes = values.sizes.split(',').map(Number)
const counts = sizes.map((size) => size.toLocaleString('en'))

console.log(`# ${JSON.stringify(versionsOf())}, node ${process.version}, build ${dist}`)
console.log(`# load ${loadavg()[0].toFixed(1)}; verbs: seconds, seconds of CPU, peak MiB\n`)
const folder = mkdtempSync(path.join(values.folder, 'hstore-lanes-'))
try {
  const columns = []
  for (const size of sizes) columns.push(await measureVerbs(path.join(folder, `${size}`), size))
  const rows = columns[0].map(({ title }, i) => [title, ...columns.map((runs) => cell(runs[i]))])
  console.log(`${table([['verb', ...counts], ...rows])}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

console.log('# folds: ms of CPU')
const folds = []
for (const shape of values.shapes.split(',').filter(Boolean))
  folds.push([shape, ...(await foldTimes(shape, sizes)).map(short)])
console.log(table([['shape', ...counts], ...folds]))

async function measureVerbs(dir, size) {
  const owner = await buildLane(dir, size)
  const other = agents.find((agent) => agent !== owner)
  const ready = ['--surface', 'board', '--status', 'READY', '--for', '60']
  const rows = []
  const measure = async (title, argv) => rows.push(await rowOf(title, dir, argv))
  await measure('lane show', ['lane', 'show', lane])
  await measure('lane status', ['lane', 'status', lane, 'NEXT', '--as', owner])
  await measure('lane signal', ['lane', 'signal', lane, ...ready, '--as', other])
  await measure('lane read', ['lane', 'read', lane, '--as', other])
  await measure('lane log', ['lane', 'log', lane])
  await measure('verify --all', ['verify', '--all'])
  return rows
}

function cell({ seconds, cpu, mib }) {
  return [seconds, cpu, mib].map(short).join(' | ')
}
