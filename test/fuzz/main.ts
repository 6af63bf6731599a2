import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { Task } from './child.ts'
import { withFolder, work } from './child.ts'
import type { Tally } from './drive.ts'
import { cpuLimitMs, keep, mutantOf } from './drive.ts'
import type { Target } from './target.ts'
import { makeTargets } from './targets/all.ts'
import { worstCases } from './worst.ts'

type Measured = Tally & { readonly peakMiB: number }

/** Most memory that a process may have taken after an input of 2 MiB, Node's own 50 MiB among it. */
const peakLimitMiB = 300

/** A mutant that works for longer than this counts as a hang, and its process is ended. */
const hangMs = 60_000

const usage = `npm run fuzz -- [--count N] [--seed N] [--target NAME]   N mutants in all; each target's share in thousands unless said
npm run fuzz -- --target NAME --replay FILE              what becomes of one mutant
npm run fuzz -- --worst [--target DOOR]                  the inputs that cost most, each in a process of its own
`

/** Runs what the words say, prints a line for each target or case, and returns the exit code: 1 when there were faults. */
export async function main(argv: readonly string[], root: string): Promise<number> {
  if (argv[0] === '--task') {
    await work(JSON.parse(argv[1] ?? '') as Task)
    return 0
  }
  const { values } = parseArgs({
    args: [...argv],
    options: {
      count: { type: 'string' },
      seed: { type: 'string', default: '20260401' },
      target: { type: 'string' },
      replay: { type: 'string' },
      worst: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  if (values.worst) return runWorst(root, values.target ?? '')
  return withFolder(async (folder) => {
    const targets = (await makeTargets(root, process.env['HSTORE_VECTORS'], folder)).filter(
      ({ name }) => values.target === undefined || name === values.target,
    )
    const [only] = targets
    if (only === undefined) throw new Error(`no target ${values.target}`)
    if (values.replay !== undefined) return replay(root, only.name, values.replay)
    return runAll(root, targets, Number(values.seed), values.count)
  })
}

async function runAll(
  root: string,
  targets: readonly Target[],
  seed: number,
  total: string | undefined,
): Promise<number> {
  const shares = targets.reduce((sum, { share }) => sum + share, 0)
  let faulty = 0
  let mutants = 0
  for (const target of targets) {
    const count = Math.ceil(target.share * (total === undefined ? 1000 : Number(total) / shares))
    const tally = await driveApart(root, target, seed, count)
    mutants += tally.count
    faulty += tally.faults.length
    process.stdout.write(`${linesOf(tally, seed)}\n`)
  }
  process.stdout.write(`${mutants} mutants, ${faulty} faults\n`)
  return faulty > 0 ? 1 : 0
}

/** Runs a target in a process of its own, so that a hang or an end without a word is a finding like any other. */
async function driveApart(
  root: string,
  target: Target,
  seed: number,
  count: number,
): Promise<Measured> {
  return withFolder(async (folder) => {
    const progress = path.join(folder, 'index')
    writeFileSync(progress, new Uint8Array(4))
    const at = (): number => readFileSync(progress).readUInt32LE()
    const task: Task = { kind: 'drive', root, target: target.name, seed, count, progress }
    const ended = await runTask(task, at)
    if (typeof ended !== 'string') return ended as Measured
    const index = at()
    const fault = { index, what: ended, file: keep(target, mutantOf(target, seed, index)) }
    const slowest = { cpuMs: 0, index, bytes: 0 }
    return { target: target.name, count: index, verdicts: {}, slowest, faults: [fault], peakMiB: 0 }
  })
}

/** Returns what the task printed, or in words how its process ended. */
async function runTask(task: Task, at: () => number = () => 0): Promise<object | string> {
  const script = process.argv[1] ?? ''
  const child = spawn(process.execPath, [script, '--task', JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  let isHung = false
  let last = -1
  const watch = setInterval(() => {
    const now = at()
    isHung = now === last
    last = now
    if (isHung) child.kill('SIGKILL')
  }, hangMs)
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  clearInterval(watch)
  if (code === 0) return JSON.parse(out.trim().split('\n').at(-1) ?? '') as object
  if (isHung) return `hangs: no end after ${hangMs / 1000} s`
  return `the process ended with ${signal ?? code}: ${err.slice(-400)}`
}

function linesOf(tally: Measured, seed: number): string {
  const { target, count, verdicts, slowest, faults, peakMiB } = tally
  const told = Object.entries(verdicts)
    .sort(([, a], [, b]) => b - a)
    .map(([verdict, times]) => `${verdict} ${times}`)
  const lines = [
    `${target}: ${count} mutants, slowest ${slowest.cpuMs.toFixed(1)} ms of CPU (mutant ${slowest.index}, ${slowest.bytes} bytes), peak ${peakMiB} MiB, ${faults.length} faults`,
    `  ${told.join(', ')}`,
    ...faults.map(
      ({ index, what, file }) =>
        `  FAULT seed ${seed} mutant ${index}: ${what.slice(0, 300)}\n    npm run fuzz -- --target ${target} --replay ${file}`,
    ),
  ]
  return lines.join('\n')
}

async function replay(root: string, target: string, file: string): Promise<number> {
  const ended = await runTask({ kind: 'replay', root, target, file })
  process.stdout.write(`${typeof ended === 'string' ? ended : JSON.stringify(ended, null, 2)}\n`)
  return typeof ended === 'string' || 'what' in ended ? 1 : 0
}

async function runWorst(root: string, door: string): Promise<number> {
  let faults = 0
  await withFolder(async (folder) => {
    const file = path.join(folder, 'input')
    for (const { name, make } of worstCases(root)) {
      if (!name.startsWith(door)) continue
      writeFileSync(file, make())
      const ended = await runTask({ kind: 'worst', root, name, file })
      const isFault = typeof ended === 'string' || isCostly(ended as Cost)
      faults += isFault ? 1 : 0
      process.stdout.write(`${isFault ? 'FAULT ' : ''}${name}: ${costOf(ended)}\n`)
    }
  })
  process.stdout.write(`${faults} faults\n`)
  return faults > 0 ? 1 : 0
}

interface Cost {
  readonly verdict: string
  readonly cpuMs: number
  readonly bytes: number
  readonly peakMiB: number
}

function isCostly({ cpuMs, peakMiB }: Cost): boolean {
  return cpuMs > cpuLimitMs || peakMiB > peakLimitMiB
}

function costOf(ended: object | string): string {
  if (typeof ended === 'string') return ended
  const { verdict, cpuMs, bytes, peakMiB } = ended as Cost
  return `${cpuMs.toFixed(0)} ms, ${peakMiB} MiB, ${bytes} bytes, ${verdict}`
}
