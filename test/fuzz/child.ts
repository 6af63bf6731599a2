import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { drive, tryOut } from './drive.ts'
import { makeTargets } from './targets/all.ts'
import { worstCases } from './worst.ts'

/** What a process of its own is to do. */
export type Task =
  | {
      readonly kind: 'drive'
      readonly root: string
      readonly target: string
      readonly seed: number
      readonly count: number
      /** Where the number of the mutant stands that is at work, for whoever finds the process hung or dead. */
      readonly progress: string
    }
  | {
      readonly kind: 'replay'
      readonly root: string
      readonly target: string
      readonly file: string
    }
  | {
      readonly kind: 'worst'
      readonly root: string
      readonly name: string
      readonly file: string
    }

/** Does one task and prints what it came to as one line of JSON. */
export async function work(task: Task): Promise<void> {
  const result = await withFolder((folder) => perform(task, folder))
  process.stdout.write(`${JSON.stringify({ ...result, peakMiB: peakMiB() })}\n`)
}

/** The most memory that this process had. What Node reports counts the process that started it as well. */
function peakMiB(): number {
  const own = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : ''
  const kib = Number(/^VmHWM:\s*(\d+) kB$/m.exec(own)?.[1] ?? process.resourceUsage().maxRSS)
  return Math.round(kib / 1024)
}

/** Returns what `use` gives for a new empty folder, which is removed then. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'hstore-fuzz-')))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function perform(task: Task, folder: string): Promise<object> {
  if (task.kind === 'worst') {
    const found = worstCases(task.root).find(({ name }) => name === task.name)
    if (found === undefined) throw new Error(`no case ${task.name}`)
    const bytes = new Uint8Array(readFileSync(task.file))
    const before = process.cpuUsage()
    const verdict = await found.run(bytes)
    const { user, system } = process.cpuUsage(before)
    return { verdict, cpuMs: (user + system) / 1000, bytes: bytes.length }
  }
  const targets = await makeTargets(task.root, process.env['HSTORE_VECTORS'], folder)
  const target = targets.find(({ name }) => name === task.target)
  if (target === undefined) throw new Error(`no target ${task.target}`)
  if (task.kind === 'replay') return tryOut(target, new Uint8Array(readFileSync(task.file)))
  const progress = openSync(task.progress, 'r+')
  const place = new Uint32Array(1)
  const tally = await drive(target, task.seed, task.count, (index) => {
    place[0] = index
    writeSync(progress, place, 0, 4, 0)
  })
  closeSync(progress)
  return tally
}
