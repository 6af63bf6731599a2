import type { ProgressState } from '../sync-verbs.ts'
import type { Io } from './io.ts'
import type { GlobalOptions } from './program.ts'

const everyMs = 200

/** One line on a terminal that says how far a sync is; nothing elsewhere. */
export interface ProgressLine {
  readonly show: (state: ProgressState) => void
  readonly end: () => void
}

/** Returns the line, for a person who waits. */
export function progressLine(io: Io, { json }: GlobalOptions): ProgressLine {
  if (io.terminal === undefined || json === true)
    return { show: () => undefined, end: () => undefined }
  const startMs = Date.now()
  let shownMs = 0
  let isShown = false
  return {
    show(state) {
      const nowMs = Date.now()
      if (nowMs - shownMs < everyMs) return
      shownMs = nowMs
      isShown = true
      io.err(`\r${lineOf(state, nowMs - startMs)}\u001b[K`)
    },
    end() {
      if (isShown) io.err('\r\u001b[K')
    },
  }
}

function lineOf({ phase, entries, entriesWanted, sizeBytes }: ProgressState, ms: number): string {
  const megabytes = sizeBytes / 1_000_000
  const rate = ms > 0 ? megabytes / (ms / 1000) : 0
  const left = entriesWanted > entries ? `, ${entriesWanted - entries} to go` : ''
  return `${phase}: ${entries} of ${entriesWanted} entries, ${megabytes.toFixed(1)} MB, ${rate.toFixed(1)} MB/s${left}`
}
