// How times and memory grow: node test/bench/large.mjs [--sizes 1000,10000,100000] [--shapes history,fan,…]
// [--file MIB] [--folder DIR] [--plot FILE.svg]
//
// Builds a store of each size, then runs every verb on it as a process of its own and notes time and memory. `history` is
// a chain of envelopes of 6 to 7 KB with a fork and a merge in every 50; `fan` is as many heads beside each other; `wide`
// has merges of 256; `streams` are chains of 100; `restated` is one document that was stated as often. `--file` measures
// an artifact of so many MiB instead. `--plot` draws the CPU times of one shape.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { dist, versionsOf } from './build.mjs'
import { short, table } from './figures.mjs'
import { measureFile } from './large-file.mjs'
import { measureStore } from './large-verbs.mjs'
import { shapes } from './large-shapes.mjs'
import { plot } from './plot.mjs'

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,10000,100000' },
    shapes: { type: 'string', default: 'history' },
    file: { type: 'string' },
    plot: { type: 'string' },
    folder: { type: 'string', default: tmpdir() },
  },
})

/** The rows that a plot shows: the others run along one of them. */
const plotted = new Set([
  'put all',
  'put 1',
  'log -n 10',
  'log',
  'verify --all --full',
  'resume, first',
  'resume, again',
  'resume, 10 later',
  'roster alias',
  'clone',
  'sync, 10 new',
])

console.log(`# ${JSON.stringify(versionsOf())}, node ${process.version}, build ${dist}`)
console.log(
  `# load ${loadavg()[0].toFixed(1)}; each cell: seconds, seconds of CPU, peak MiB, own peak MiB (without mapped files)\n`,
)
const folder = mkdtempSync(path.join(values.folder, 'hstore-large-'))
try {
  if (values.file !== undefined) show(['verb'], [await measureFile(folder, Number(values.file))])
  else for (const name of values.shapes.split(',')) await measureShape(name)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measureShape(name) {
  const sizes = values.sizes.split(',').map(Number)
  const columns = []
  for (const size of sizes) {
    const dir = path.join(folder, `${name}-${size}`)
    const built = await shapes[name](dir, size)
    columns.push([built, ...(await measureStore(dir, built))])
    rmSync(dir, { recursive: true, force: true })
  }
  show([name, ...sizes.map((size) => size.toLocaleString('en'))], columns)
  if (values.plot !== undefined) writeFileSync(values.plot, drawn(sizes, columns))
}

function drawn(sizes, columns) {
  const lines = columns[0].flatMap(({ title }, i) =>
    plotted.has(title) ? [{ title, values: columns.map((runs) => runs[i].cpu) }] : [],
  )
  return plot(sizes, lines, 'seconds of CPU, the whole process')
}

/** @param columns - Of each size, the runs in the same order. */
function show(head, columns) {
  const rows = columns[0].map(({ title }, i) => [title, ...columns.map((runs) => cell(runs[i]))])
  console.log(`${table([head.length > 1 ? head : [...head, ''], ...rows])}\n`)
}

function cell({ seconds, cpu, mib, own }) {
  const parts = [seconds, cpu, mib, own].map((number) =>
    number === undefined ? '' : short(number),
  )
  return parts.filter((part) => part !== '').join(' | ')
}
