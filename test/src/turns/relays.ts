import type { TurnDraft } from '../../../src/contracts/turns/draft.ts'
import { appendTurn } from '../../../src/contracts/turns/append.ts'
import { joinSegments, readRelay } from '../../../src/contracts/turns/markdown.ts'
import { foldBlankLines } from '../../../src/contracts/turns/turn.ts'
import { claimed } from './drafts.ts'

/** A relay of alpha and beta, as M8Shift lays out a fresh one, with turn 0. */
export const freshRelay = `# M8Shift · demo

<!-- M8SHIFT:LOCK:BEGIN -->
holder:   none
state:    IDLE
agents:   alpha,beta
lang:     en
turn:     0
since:    2026-01-01T00:00:00Z
expires:  -
note:     session initialized, no turn opened
<!-- M8SHIFT:LOCK:END -->

---

## Turn log

<!-- M8SHIFT:TURN 0 system BEGIN -->
- from:    system
- to:      none
- ask:     —
- done:    relay made
- files:   —
- handoff: none
<!-- M8SHIFT:TURN 0 system END -->
`

/** Returns a turn of an agent to the other, as a draft with `more` in it. */
export function draftBy(agent: 'alpha' | 'beta', more: Partial<TurnDraft> = {}): TurnDraft {
  const to = agent === 'alpha' ? 'beta' : 'alpha'
  return { agent, to, at: '2026-01-01T00:00:00Z', ask: 'go on', done: 'so far', ...more }
}

/** Returns a relay in which an agent has taken the pen and appended a turn. */
export function appended(relay: string, draft: TurnDraft): string {
  const pen = claimed(new Uint8Array(Buffer.from(relay)), draft.agent)
  return Buffer.from(appendTurn(pen, draft, 'M8SHIFT.md').bytes).toString()
}

/** Returns relay and archive as M8Shift's `archive --keep` leaves them. */
export function archiveRun(
  relay: string,
  archive: string,
  keep: number,
): { readonly relay: string; readonly archive: string } {
  const { segments } = readRelay(new Uint8Array(Buffer.from(relay)))
  const movable = segments.flatMap((segment) =>
    segment.kind === 'turn' && segment.placed.turn.number !== '0' ? [segment] : [],
  )
  const moved = movable.slice(0, Math.max(movable.length - keep, 0))
  if (moved.length === 0) return { relay, archive }
  const left = segments.filter((segment) => !moved.some((one) => one === segment))
  const title = archive === '' ? '# M8Shift · turn archive\n\n' : archive
  return {
    relay: foldBlankLines(Buffer.from(joinSegments(left)).toString()),
    archive: title + moved.map(({ placed }) => `${placed.turn.text}\n`).join(''),
  }
}
