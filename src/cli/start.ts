/*
 * The first file that bin/hstore loads. Where a process of this user serves the store, `hstore serve`, it does the verb;
 * what it can't, or where there is none, is done by the program. So nothing of the program is loaded here.
 */
import { dirname } from 'node:path'
import { findCard } from '../resident/card.ts'
import { ask } from './ask.ts'
import { isAskable, whereOf } from './askable.ts'
import { load } from './load.ts'

/** What the program exports. */
interface Program {
  run(build: string): Promise<void>
}

/**
 * Runs the command line of this process.
 *
 * @param build - Which build this is.
 * @param program - The file that the program is loaded from.
 */
export function start(build: string, program: string): void {
  const argv = process.argv.slice(2)
  const alone = (): void => void (load(program) as Program).run(build)
  if (!isAskable(argv, process.env)) return alone()
  const where = whereOf(argv, process.env)
  const card = where === undefined ? undefined : findCard(where.card)
  if (where === undefined || card === undefined) return alone()
  ask({ card, folder: dirname(where.card), cwd: where.cwd }, { argv, build, alone })
}
