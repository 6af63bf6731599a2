import { readdirSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { appendTurn } from '../../src/contracts/turns/append.ts'
import { HandoffError } from '../../src/errors.ts'
import { describeTurnCase } from '../src/turns/describe-case.ts'
import { claimed, draftOf, lastTurnTaken } from '../src/turns/drafts.ts'
import type { Attempt } from '../src/turns/run-case.ts'
import { readCaseFile, readExpected } from '../src/turns/run-case.ts'

/** Runs the handed relays: turns, verdicts, exit codes, `peek`, and appends accepted, refused and written alike. */
export function describeTurns(folder: string): void {
  const home = path.join(folder, 'turns')
  for (const name of readdirSync(home).filter((name) => /^\d+-/.test(name))) {
    const one = path.join(home, name)
    const { attempts, hand_edits, turns } = readExpected(one)
    describeTurnCase(one)
    const living = readCaseFile(one, 'M8SHIFT.md')!

    for (const attempt of attempts ?? []) {
      it(`turns/${name}, append: ${attempt.why}`, () =>
        expect(exitOf(living, attempt)).toBe(attempt.exit))
    }

    // `done` and `release` change the LOCK block behind the last turn, hands change all the rest
    const isAppended = hand_edits.length === 0 && (turns ?? []).length > 1
    if (!isAppended || /pause|done/.test(name)) continue
    it(`turns/${name}, the last append`, () => {
      const { before, draft } = lastTurnTaken(living)
      const { bytes } = appendTurn(before, draft, name)
      expect(Buffer.from(bytes).toString()).toBe(Buffer.from(living).toString())
    })
  }
}

function exitOf(living: Uint8Array, attempt: Attempt): number {
  try {
    appendTurn(claimed(living, 'alpha'), draftOf(attempt), 'M8SHIFT.md')
    return 0
  } catch (error) {
    if (error instanceof HandoffError && error.code === 'HSTORE_TURN_REFUSED') return 1
    throw error
  }
}
