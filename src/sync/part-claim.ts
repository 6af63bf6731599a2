import { closeSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { constants, copyFile } from 'node:fs/promises'
import path from 'node:path'
import type { CidText } from '../../store/cid-text.ts'
import { isAbsent } from '../../store/level-errors.ts'
import type { Presence } from './presence.ts'
import { isPresent } from './presence.ts'

// `large-CID` is free: nobody has it open. Who writes it has it under a name of its own, `large-CID.NAME`.

const named = /^large-([a-z2-7]+)(?:\.([\da-f-]+))?$/

/** A file in quarantine that a large artifact is coming to. */
export interface PartFile {
  readonly file: string
  readonly artifact: CidText
  /** Whether somebody writes it now. */
  readonly isHeld: boolean
  /** Whether who wrote it has closed it. */
  readonly isFree: boolean
}

/** Returns the files of large artifacts that have not come whole. */
export function partFilesIn(folder: string): readonly PartFile[] {
  return readdirSync(folder).flatMap((name) => {
    const [, artifact, writer] = named.exec(name) ?? []
    if (artifact === undefined) return []
    const isFree = writer === undefined
    const isHeld = !isFree && isPresent(folder, writer)
    return [{ file: path.join(folder, name), artifact: artifact as CidText, isHeld, isFree }]
  })
}

/**
 * Takes the file of a large artifact, with what came before, for one writer that has none of it.
 *
 * @returns Its path; undefined while another has it, in this process or another one.
 */
export async function claimPart(
  folder: string,
  artifact: CidText,
  presence: Presence,
): Promise<string | undefined> {
  const mine = path.join(folder, `large-${artifact}.${presence.name}`)
  const others = (): readonly PartFile[] =>
    partFilesIn(folder).filter((one) => one.artifact === artifact && one.file !== mine)
  const there = others()
  if (there.some(({ isHeld }) => isHeld)) return undefined
  const [most] = there.toSorted((a, b) => sizeOf(b.file) - sizeOf(a.file))
  if (most?.isFree === true) {
    if (!renameOver(most.file, mine)) return undefined
  } else closeSync(openSync(mine, 'wx', 0o600))
  // two that found none each made one: both see it, and try again
  if (others().some(({ isHeld }) => isHeld)) {
    releasePart(folder, artifact, mine)
    return undefined
  }
  if (most?.isFree === false) await takeFromDead(most.file, mine)
  return mine
}

/** Leaves what came to the next one. */
export function releasePart(folder: string, artifact: CidText, mine: string): void {
  if (sizeOf(mine) > 0) renameOver(mine, path.join(folder, `large-${artifact}`))
  else rmSync(mine, { force: true })
}

/** The dead may live after all, and have it open: their bytes are taken, not their file. */
async function takeFromDead(file: string, mine: string): Promise<void> {
  try {
    await copyFile(file, mine, constants.COPYFILE_FICLONE)
    rmSync(file, { force: true })
  } catch (error) {
    // another has taken it, or it lives and has left it
    if (isAbsent(error)) return
    rmSync(mine, { force: true })
    throw error
  }
}

/** Returns false where it is gone: another has taken it. */
function renameOver(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
