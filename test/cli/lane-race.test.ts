import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { agents, json, makeTestStore } from '../support/store.ts'
import type { TestStore } from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'
import type { Left } from '../support/verbs-process.ts'
import { runVerbs } from '../support/verbs-process.ts'

const { a, b, merger } = agents
const rounds = process.env['HSTORE_SOAK'] ? 100 : 5
const to = ['--surface', 'board:v2'] as const

interface Report {
  readonly status: string
  readonly cid: string | null
  readonly new: boolean
}

/** What eight processes try on each lane at once: five by its owner, three by others. */
const racers: readonly ((lane: string, now: number) => readonly string[])[] = [
  (lane, now) => ['commit', lane, '--now', String(now), '--as', a],
  (lane, now) => ['commit', lane, '--now', String(now + 1), '--as', a],
  (lane, now) => ['commit', lane, '--now', String(now + 2), '--as', a],
  (lane) => ['status', lane, 'BUSY', '--as', a],
  (lane) => ['propose', lane, '--to', merger, ...to, '--as', a],
  (lane) => ['ack', lane, '--as', b],
  (lane) => ['ack', lane, '--as', merger],
  (lane) => ['commit', lane, '--as', b],
]

async function offered(store: TestStore, lane: string): Promise<void> {
  const lines = [
    ['open', lane, '--as', a],
    ['propose', lane, '--to', b, ...to, '--as', a],
    ['signal', lane, ...to, '--status', 'READY', '--for', '6000', '--as', b],
    ['read', lane, '--as', b],
  ]
  for (const { exit, err } of await runVerbs(
    store,
    lines.map((line) => ['lane', ...line]),
  ))
    expect({ exit, err }).toMatchObject({ exit: 0 })
}

/** Only these exits are HRC's: the answer told on stdout is the one that the exit says. */
function expectAnswer({ exit, out, err }: Left): void {
  expect([0, 1, 3, 6, 7], err).toContain(exit)
  if (out === '') return
  const { status, cid } = JSON.parse(out) as Report
  const said = [
    [
      /^(HANDOFF_COMMIT_ALLOWED|HANDOFF_REQUIRES_REACHABILITY|STATUS_TRANSITION_ALLOWED|RECORDED)$/,
      0,
    ],
    [/^PENDING_/, 3],
    [/^BLOCKED_CAS_CONFLICT$/, 6],
    [/^BLOCKED_UNREAD_PREDECESSOR$/, 7],
    [/^BLOCKED_/, 1],
  ] as const
  const wanted = said.find(([form]) => form.test(status))?.[1]
  expect({ status, exit }).toEqual({ status, exit: wanted })
  expect(cid === null).toBe(exit !== 0)
}

describe('eight processes on one lane', () => {
  it(`close each epoch once, in ${rounds} rounds, and no loser is told yes`, async () => {
    const store = await makeTestStore(path.join(await makeTempFolder(), 's'))
    const lanes = Array.from({ length: rounds }, (_, i) => `lane-${i}`)
    for (const lane of lanes) await offered(store, lane)
    const now = Math.floor(Date.now() / 1000)
    const runs = await Promise.all(
      racers.map((racer) =>
        runVerbs(
          store,
          lanes.map((lane) => ['lane', ...racer(lane, now), '--json']),
        ),
      ),
    )
    for (const [i, lane] of lanes.entries()) {
      const all = runs.map((run) => run[i]!)
      for (const left of all) expectAnswer(left)
      const shown = json<{ owner: string; epoch: number; faults: unknown[]; contested: unknown }>(
        await store.run('lane', 'show', lane, '--json'),
      )
      expect(shown).toMatchObject({ contested: null, faults: [] })
      const { entries } = json<{ entries: { kind: string; cid: string; problem: unknown }[] }>(
        await store.run('lane', 'log', lane, '--json'),
      )
      expect(entries.filter(({ problem }) => problem !== null)).toEqual([])
      const commits = entries.filter(({ kind }) => kind === 'lane-commit').map(({ cid }) => cid)
      const won = all
        .slice(0, 3)
        .filter(({ exit }) => exit === 0)
        .map(({ out }) => (JSON.parse(out) as Report).cid)
      expect(won).toEqual(commits)
      expect(commits.length).toBeLessThan(2)
      expect([shown.owner, shown.epoch]).toEqual(commits.length === 1 ? [b, 2] : [a, 1])
    }
    expect((await store.run('verify', '--all')).exit).toBe(0)
  }, 900_000)
})
