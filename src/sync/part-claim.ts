import { closeSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { isAlive } from '../../store/holder.ts'
import type { CidText } from '../../store/cid-text.ts'

// `large-CID` is free. Who writes it has it under a name of its own, `large-CID.PID-N`, which no other process can take
// while that one lives: a rename is done by one of many.

const named = /^large-([a-z2-7]+)(?:\.(\d+)-(\d+))?$/
const claimed = new Set<string>()
let claims = 0

/** A file in quarantine that a large artifact is coming to. */
export interface PartFile {
  readonly file: string
  readonly artifact: CidText
  /** Whether somebody writes it now. */
  readonly isHeld: boolean
}

/** Returns the files of large artifacts that have not come whole. */
export function partFilesIn(folder: string): readonly PartFile[] {
  return readdirSync(folder).flatMap((name) => {
    const [, artifact, pid] = named.exec(name) ?? []
    if (artifact === undefined) return []
    const file = path.join(folder, name)
    return [{ file, artifact: artifact as CidText, isHeld: isHeld(file, Number(pid)) }]
  })
}

/** A process before this one may have had its number. */
function isHeld(file: string, pid: number): boolean {
  return pid === process.pid ? claimed.has(file) : !Number.isNaN(pid) && isAlive(pid)
}

/**
 * Takes the file of a large artifact, with what came before, for one writer.
 *
 * @returns Its path; undefined while another has it, in this process or another one.
 */
export function claimPart(folder: string, artifact: CidText): string | undefined {
  const others = (): readonly PartFile[] =>
    partFilesIn(folder).filter((one) => one.artifact === artifact && one.file !== mine)
  claims += 1
  const mine = path.join(folder, `large-${artifact}.${process.pid}-${claims}`)
  const there = others()
  if (there.some((one) => one.isHeld)) return undefined
  const [most] = there.toSorted((a, b) => sizeOf(b.file) - sizeOf(a.file))
  claimed.add(mine)
  if (take(most?.file, mine)) {
    // two that found none each made one: the later one sees the other
    if (!others().some((one) => one.isHeld)) return mine
    releasePart(folder, artifact, mine)
  }
  claimed.delete(mine)
  return undefined
}

/** Leaves what came to the next one. */
export function releasePart(folder: string, artifact: CidText, mine: string): void {
  claimed.delete(mine)
  if (sizeOf(mine) > 0) renameOver(mine, path.join(folder, `large-${artifact}`))
  else rmSync(mine, { force: true })
}

function take(from: string | undefined, mine: string): boolean {
  if (from !== undefined) return renameOver(from, mine)
  closeSync(openSync(mine, 'wx', 0o600))
  return true
}

/** Returns false where it is gone: another has taken it. */
function renameOver(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
