import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError } from './errors.ts'
import { findHolder } from './holder.ts'
import { leaveWord, takeWordBack } from './wanted.ts'

/**
 * Tries again and again to take a database that one process holds at a time, until `waitMs` are over; 0 waits only for
 * one who holds it without need.
 *
 * @param attempt - Returns undefined when somebody else holds the database.
 * @throws {StoreError} `HSTORE_STORE_BUSY`; `details` has `holder`, its pid where known, and `waitedMs`.
 */
export async function waitForDatabase<T>(
  directory: string,
  waitMs: number,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  const started = performance.now()
  const patienceMs = Math.max(waitMs, letGoMs)
  let isWordLeft = false
  try {
    for (let tries = 0; ; tries++) {
      const taken = await attempt()
      if (taken !== undefined) return taken
      const waitedMs = performance.now() - started
      if (waitedMs >= patienceMs) throw busy(directory, waitedMs)
      leaveWord(directory)
      isWordLeft = true
      await sleep(Math.min(delayMs(tries), patienceMs - waitedMs))
    }
  } finally {
    if (isWordLeft) takeWordBack(directory)
  }
}

/** Throws a RangeError when `waitMs` is no time to wait. */
export function assertWait(waitMs: number): void {
  if (Number.isFinite(waitMs) && waitMs >= 0) return
  throw new RangeError(`waitMs: wanted a finite number of milliseconds from 0 on, got ${waitMs}`)
}

/** Who keeps a database open without need lets go of it within so many ms. */
const letGoMs = 200

/** Who waits tries again within so many ms. */
export const maxDelayMs = 40

/** 3 to 40 ms, growing, half of it by chance, so that processes that wait together do not come back together. */
function delayMs(tries: number): number {
  return Math.min(maxDelayMs, 3 * 1.4 ** tries) * (0.5 + Math.random() / 2)
}

function busy(directory: string, waitedMs: number): StoreError {
  const holder = findHolder(directory)
  const who = holder === undefined ? 'another process' : `process ${holder}`
  const waited = `${(waitedMs / 1000).toFixed(1)} s`
  const message = `${directory} is held by ${who}, waited ${waited}: wait longer with --wait SECONDS, or let ${who} end`
  return new StoreError('HSTORE_STORE_BUSY', message, {
    details: { waitedMs: Math.round(waitedMs), ...(holder === undefined ? {} : { holder }) },
  })
}
