// hstore against a floor, in one run: node test/bench/run.mjs [--n 10000] [--each 1000] [--rounds 3] [--starts 9] [--check]
// [--guard]
//
// Every operation runs in a process of its own, hstore and floor in turn, so that a noisy machine hits both alike:
// ratios hold, absolute figures do not. `--check` exits 1 when an aim is missed. `--guard` exits 1 when an operation takes
// far more CPU time of the floor's than it does: the margins are wide, so that no noise of a machine reaches them.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { dist, versionsOf } from './build.mjs'
import { coldStarts } from './cold.mjs'
import { putBatch } from './batch.mjs'
import { median, short, table } from './figures.mjs'

const here = path.dirname(fileURLToPath(import.meta.url))
const { values } = parseArgs({
  options: {
    n: { type: 'string', default: '10000' },
    each: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '3' },
    starts: { type: 'string', default: '9' },
    check: { type: 'boolean', default: false },
    guard: { type: 'boolean', default: false },
  },
})
const [n, each, rounds, starts] = [values.n, values.each, values.rounds, values.starts].map(Number)
for (const number of [n, each, rounds, starts]) {
  if (Number.isSafeInteger(number) && number > 0) continue
  console.error('bench: --n, --each, --rounds and --starts take whole numbers from 1 on')
  process.exit(2)
}

/**
 * Aims in operations a second (at least) and in time (at most), as shares of the floor's; `guard` is the most CPU time
 * that an operation may take of the floor's, about twice what it takes.
 */
const operations = [
  { title: `put, ${n} in groups of 256`, op: 'append', mode: '', count: n, atLeast: 1.3, guard: 9 },
  {
    title: `put, ${each} one by one`,
    op: 'append',
    mode: 'each',
    count: each,
    atLeast: 0.8,
    guard: 8,
  },
  { title: `put --batch of ${n} lines`, op: 'batch', mode: '', count: n, atLeast: 1, guard: 11 },
  { title: `verify all of ${n}`, op: 'verify', mode: '', count: n, atLeast: 1.05, guard: 8 },
  { title: 'get, 5000 at random', op: 'get', mode: '', count: n, atLeast: 1.3, guard: 8 },
  { title: 'open and read the head', op: 'open', mode: '', count: n, atMost: 1.2 },
]
const startAims = {
  '--version': 1.1,
  'get, served': 1.25,
  'may-act, served': 1.8,
  'put, served': 1.3,
  'resume, served': 1.5,
}

const folder = mkdtempSync(path.join(tmpdir(), 'hstore-bench-'))
try {
  console.log(`# ${JSON.stringify(versionsOf())}, node ${process.version}, build ${dist}`)
  console.log(`# load ${loadavg()[0].toFixed(1)}; ${rounds} rounds in turn, medians\n`)
  const results = await operationResults()
  if (values.guard) guard(results)
  else results.push(...(await startResults()))
  console.log(`\n${results.filter(({ met }) => met).length} aims met, ${missed(results)} missed`)
  if (values.check && missed(results) > 0) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
tellOfHarness(process.env['HSTORE_BENCH'])

async function operationResults() {
  const runs = operations.map(() => ({ hstore: [], floor: [] }))
  for (let round = 0; round < rounds; round++) {
    for (const [i, { op, mode, count }] of operations.entries()) {
      for (const who of ['hstore', 'floor']) runs[i][who].push(await runOf(who, op, count, mode))
    }
  }
  const results = operations.map((operation, i) => judged(operation, runs[i]))
  const head = [
    'operation',
    'hstore µs',
    'floor µs',
    'of floor',
    'CPU µs',
    'floor',
    'MiB',
    'aim',
    '',
  ]
  console.log(table([head, ...results.map(({ row }) => row)]))
  return results
}

/** The floor knows no lines: a batch is held against puts in groups. */
async function runOf(who, op, count, mode) {
  const name = op === 'batch' ? `${who}-batch` : mode === '' ? who : `${who}-${mode}`
  const dir = path.join(folder, name)
  if (op === 'batch' && who === 'hstore') return putBatch(dir, count)
  if (op === 'append' || op === 'batch') rmSync(dir, { recursive: true, force: true })
  return one(who, op === 'batch' ? 'append' : op, dir, count, mode)
}

function one(who, op, dir, count, mode) {
  const args = [path.join(here, 'one.mjs'), who, op, dir, String(count), mode]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${who} ${op}: ${stderr.trim()}`)
  return JSON.parse(stdout)
}

/** Speed aims compare operations a second; the one for `open` compares times. */
function judged({ title, atLeast, atMost, guard }, { hstore, floor }) {
  const us = (runs, key) => median(runs.map((run) => (run[key] * 1000) / run.ops))
  const [ours, theirs] = [us(hstore, 'ms'), us(floor, 'ms')]
  const share = atMost === undefined ? theirs / ours : ours / theirs
  const met = atLeast === undefined ? atMost === undefined || share <= atMost : share >= atLeast
  const aim = atLeast === undefined ? (atMost === undefined ? '' : `≤ ${atMost}`) : `≥ ${atLeast}`
  const memory = short(median(hstore.map(({ rssMiB }) => rssMiB)))
  const cpu = [us(hstore, 'cpuMs'), us(floor, 'cpuMs')]
  const row = [
    title,
    short(ours),
    short(theirs),
    share.toFixed(2),
    ...cpu.map(short),
    memory,
    aim,
    word(aim, met),
  ]
  return {
    row,
    met: aim !== '' && met,
    hasAim: aim !== '',
    title,
    cpuShare: cpu[0] / cpu[1],
    guard,
  }
}

function guard(results) {
  for (const { title, cpuShare, guard: most } of results) {
    if (most === undefined || cpuShare <= most) continue
    console.error(
      `bench: ${title}: ${short(cpuShare)} times the CPU time of the floor, at most ${most} is guarded`,
    )
    process.exitCode = 1
  }
}

async function startResults() {
  const times = await coldStarts(path.join(folder, 'cold'), starts)
  const base = median(times['empty .mjs'])
  const results = Object.entries(times).map(([name, all]) => {
    const share = median(all) / base
    const most = startAims[name]
    const aim = most === undefined ? '' : `≤ ${most}`
    const met = most === undefined || share <= most
    const row = [name, short(median(all)), share.toFixed(2), aim, word(aim, met)]
    return { row, met: aim !== '' && met, hasAim: aim !== '' }
  })
  const head = ['cold start', 'ms', 'of an empty .mjs', 'aim', '']
  console.log(`\n${table([head, ...results.map(({ row }) => row)])}`)
  return results
}

function word(aim, met) {
  if (aim === '') return ''
  return met ? 'met' : 'missed'
}

function missed(results) {
  return results.filter(({ met, hasAim }) => hasAim && !met).length
}

/** A harness that takes an adapter measures hstore among its peers. */
function tellOfHarness(harness) {
  if (harness === undefined || harness === '') return
  const adapter = path.join(here, 'adapter.mjs')
  const root = path.dirname(dist)
  console.log(`
# the harness in HSTORE_BENCH, with PEERS set up as it says:
HSTORE=${dist} HSTORE_ADAPTER=${adapter} node ${path.join(harness, 'run.mjs')} --only hstore,floor --ops append,verify,get,open
HSTORE_BIN=${path.join(root, 'bin/hstore')} HSTORE_GET_ARGS='get REF --store D --keys K' HSTORE_PUT_ARGS='put {envelope} --store D --keys K' node ${path.join(harness, 'c-startup.mjs')}`)
}
