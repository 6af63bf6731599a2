import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { diceOf } from './dice.ts'
import type { Target } from './target.ts'

/** What a run over one target came to. */
export interface Tally {
  readonly target: string
  readonly count: number
  /** How often each verdict was given. */
  readonly verdicts: Readonly<Record<string, number>>
  /** The most CPU time that one mutant took, of all threads, in ms, and its number. */
  readonly slowest: { readonly cpuMs: number; readonly index: number; readonly bytes: number }
  /** Mutants that hstore has no right answer to. */
  readonly faults: readonly Fault[]
}

/** A mutant that hstore has no right answer to. */
export interface Fault {
  readonly index: number
  readonly what: string
  /** Where the mutant is kept. */
  readonly file: string
}

/** CPU time that one mutant may take, in ms. */
export const cpuLimitMs = 1000

const mostFaults = 20

/** Returns the mutant of a seed and a number: the same one each time, whatever ran before. */
export function mutantOf(target: Target, seed: number, index: number): Uint8Array {
  const dice = diceOf(seed, target.name, index)
  return target.mutate(dice.pick(target.seeds), dice, dice.pick(target.seeds))
}

/**
 * Runs `count` mutants of one target. A faulty one is shrunk, kept in a temporary file and counted.
 *
 * @param onMutant - Told the number of each mutant before it runs.
 */
export async function drive(
  target: Target,
  seed: number,
  count: number,
  onMutant: (index: number) => void = () => undefined,
): Promise<Tally> {
  const verdicts: Record<string, number> = {}
  const faults: Fault[] = []
  let slowest = { cpuMs: 0, index: 0, bytes: 0 }
  for (let index = 0; index < count && faults.length < mostFaults; index++) {
    const mutant = mutantOf(target, seed, index)
    onMutant(index)
    const { verdict, what, cpuMs } = await tryOut(target, mutant)
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1
    if (cpuMs > slowest.cpuMs) slowest = { cpuMs, index, bytes: mutant.length }
    if (what === undefined) continue
    const small = await shrink(target, mutant, what)
    faults.push({ index, what, file: keep(target, small) })
  }
  return { target: target.name, count, verdicts, slowest, faults }
}

/** Keeps a mutant in a temporary file and returns its path. */
export function keep({ name }: Target, mutant: Uint8Array): string {
  const digest = createHash('sha256').update(mutant).digest('hex').slice(0, 12)
  const file = path.join(tmpdir(), `hstore-fuzz-${name}-${digest}.bin`)
  writeFileSync(file, mutant)
  return file
}

/** What a target made of one mutant; `what` says what is wrong with that. */
export interface Tried {
  readonly verdict: string
  readonly what: string | undefined
  readonly cpuMs: number
}

/** Runs one mutant. One that is over the limit of time counts only when it is so again: other work disturbs. */
export async function tryOut(target: Target, mutant: Uint8Array): Promise<Tried> {
  const first = await runOnce(target, mutant)
  if (first.what !== undefined || first.cpuMs <= cpuLimitMs) return first
  const second = await runOnce(target, mutant)
  const cpuMs = Math.min(first.cpuMs, second.cpuMs)
  const what = cpuMs > cpuLimitMs ? `took ${cpuMs.toFixed(0)} ms of CPU` : second.what
  return { ...second, cpuMs, what }
}

async function runOnce(target: Target, mutant: Uint8Array): Promise<Tried> {
  const before = process.cpuUsage()
  let verdict = 'fault'
  let what: string | undefined
  try {
    verdict = await target.run(mutant)
  } catch (error) {
    what = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  }
  const { user, system } = process.cpuUsage(before)
  return { verdict, what, cpuMs: (user + system) / 1000 }
}

/** Cuts pieces out for as long as the fault stays the same in kind, in at most 400 tries. */
async function shrink(target: Target, mutant: Uint8Array, what: string): Promise<Uint8Array> {
  const kind = what.slice(0, 24)
  let best = mutant
  let tries = 0
  for (let size = best.length >> 1; size > 0 && tries < 400; size >>= 1) {
    for (let at = 0; at < best.length && tries < 400; tries++) {
      const shorter = Buffer.concat([best.subarray(0, at), best.subarray(at + size)])
      const found = (await runOnce(target, new Uint8Array(shorter))).what
      if (found?.startsWith(kind) === true) best = new Uint8Array(shorter)
      else at += size
    }
  }
  return best
}
