import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Ran } from '../support/cli.ts'
import { launcher } from '../support/cli.ts'
import type { TestStore } from '../support/store.ts'
import { agents, json, makeTestStore, ok, putHistory } from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const { a, b, merger } = agents
const surface = ['--surface', 'board:v2'] as const

/** Runs a verb of lanes as an agent and returns its JSON and exit code. */
async function lane(store: TestStore, agent: string, ...argv: readonly string[]) {
  const ran = await store.run('--json', '--as', agent, 'lane', ...argv)
  const report = ran.out === '' ? told(ran) : json(ran)
  return { exit: ran.exit, ...report } as { exit: number; status?: string; cid: string } & Record<
    string,
    unknown
  >
}

function told({ err }: Ran): Record<string, unknown> {
  return JSON.parse(err) as Record<string, unknown>
}

const owner = async (store: TestStore): Promise<readonly unknown[]> => {
  const { owner: who, epoch } = await lane(store, a, 'show', 'docs')
  return [who, epoch]
}

describe('a lane', () => {
  it('is opened, offered, accepted and handed over', async () => {
    const store = await makeTestStore(path.join(await makeTempFolder(), 's'))
    const [first] = await putHistory(store)
    expect(await lane(store, a, 'open', 'docs')).toMatchObject({ exit: 0, status: 'RECORDED' })
    expect(await owner(store)).toEqual([a, 1])
    const offer = await lane(
      store,
      a,
      'propose',
      'docs',
      '--to',
      b,
      ...surface,
      '--handoff',
      first!,
    )
    expect(offer).toMatchObject({ exit: 0, status: 'HANDOFF_REQUIRES_REACHABILITY' })
    expect(await lane(store, a, 'commit', 'docs')).toMatchObject({
      exit: 3,
      status: 'PENDING_REACHABILITY_UNCHECKED',
      detail: { target_owner_ref: b },
      cid: null,
    })
    expect(await lane(store, b, 'ack', 'docs')).toMatchObject({
      exit: 7,
      status: 'BLOCKED_UNREAD_PREDECESSOR',
    })
    const ready = ['--status', 'READY', '--for', '600']
    expect(await lane(store, b, 'signal', 'docs', ...surface, ...ready)).toMatchObject({ exit: 0 })
    expect(await lane(store, a, 'commit', 'docs')).toMatchObject({
      exit: 3,
      status: 'PENDING_RECIPIENT_ACK',
    })
    expect((await lane(store, b, 'read', 'docs'))['entries']).toHaveLength(3)
    expect((await lane(store, b, 'read', 'docs'))['entries']).toHaveLength(0)
    expect(await lane(store, merger, 'ack', 'docs')).toMatchObject({
      exit: 1,
      status: 'BLOCKED_ACK_RECIPIENT_MISMATCH',
    })
    const ack = await lane(store, b, 'ack', 'docs')
    expect(ack).toMatchObject({ exit: 0, new: true })
    expect(await lane(store, b, 'ack', 'docs')).toMatchObject({ exit: 0, new: false, cid: ack.cid })
    expect(await lane(store, b, 'commit', 'docs')).toMatchObject({
      exit: 1,
      status: 'BLOCKED_WRITER_NOT_OWNER',
    })
    expect(await owner(store)).toEqual([a, 1])
    const commit = await lane(store, a, 'commit', 'docs')
    expect(commit).toMatchObject({
      exit: 0,
      status: 'HANDOFF_COMMIT_ALLOWED',
      detail: { new_owner_ref: b, new_ownership_epoch: 2, new_head_event_id: offer.cid },
    })
    expect(await lane(store, a, 'commit', 'docs')).toMatchObject({
      exit: 0,
      new: false,
      cid: commit.cid,
    })
    expect(await owner(store)).toEqual([b, 2])
    expect(await lane(store, a, 'status', 'docs', 'DONE')).toMatchObject({
      exit: 1,
      status: 'BLOCKED_WRITER_NOT_OWNER',
    })
    expect(await lane(store, b, 'status', 'docs', 'DONE')).toMatchObject({
      exit: 7,
      detail: {
        observed_through_event_id: expect.any(String) as string,
        expected_predecessor_id: offer.cid,
      },
    })
    await lane(store, b, 'read', 'docs')
    expect(await lane(store, b, 'status', 'docs', 'DONE')).toMatchObject({ exit: 0, new: true })
    expect(await lane(store, b, 'status', 'docs', 'DONE')).toMatchObject({ exit: 0, new: false })
    expect(await owner(store)).toEqual([b, 2])
    const verified = await store.run('verify', '--all', '--json')
    expect({ exit: verified.exit, ...json(verified) }).toMatchObject({ exit: 0, findings: [] })
    await ok(store.run('lane', 'show', 'docs'))
    await ok(store.run('lane', 'log', 'docs'))
  })

  it('counts nothing as read where nobody took what was printed', async () => {
    const store = await makeTestStore(path.join(await makeTempFolder(), 's'))
    await lane(store, a, 'open', 'docs')
    const argv = [launcher, 'lane', 'read', 'docs', '--as', b]
    const child = spawn(process.execPath, argv, { env: store.env, cwd: store.root })
    child.stdout.destroy()
    child.stderr.resume()
    expect(await once(child, 'close')).not.toEqual([0, null])
    expect((await lane(store, b, 'read', 'docs'))['entries']).toHaveLength(1)
  })

  it('lets its owner and the addressee of a deliverable offer resume, and nobody else', async () => {
    const store = await makeTestStore(path.join(await makeTempFolder(), 's'))
    const cids = await putHistory(store)
    const head = cids[3]!
    const resume = async (agent: string, ref = head) => {
      const ran = await store.run('resume', ref, '--as', agent, '--no-certificate', '--json')
      const { verdict, checks, findings, notMade } = json<{
        verdict: string
        checks: { name: string; result: string }[]
        findings: { code: string }[]
        notMade: string[]
      }>(ran)
      const check = checks.find(({ name }) => name === 'lane')?.result
      const codes = findings.map(({ code }) => code)
      return { exit: ran.exit, verdict, check, codes, isMade: !notMade.join().includes('lane') }
    }
    const complete = { exit: 0, verdict: 'complete', check: 'ok', codes: [], isMade: true }
    const unsafe = {
      exit: 5,
      verdict: 'unsafe',
      check: 'failed',
      isMade: true,
      codes: ['BLOCKED_WRITER_NOT_OWNER'],
    }
    expect(await resume(b)).toEqual({ ...complete, check: 'not made', isMade: false })
    await lane(store, a, 'open', 'docs')
    await lane(store, a, 'propose', 'docs', '--to', b, ...surface, '--handoff', head)
    expect(await resume(b)).toEqual({
      exit: 3,
      verdict: 'pending',
      check: 'incomplete',
      isMade: true,
      codes: ['PENDING_REACHABILITY_UNCHECKED'],
    })
    expect(await resume(a)).toEqual(complete)
    expect(await resume(merger)).toEqual(unsafe)
    await lane(store, b, 'signal', 'docs', ...surface, '--status', 'UNAVAILABLE', '--for', '600')
    expect(await resume(b)).toMatchObject({ exit: 3, codes: ['PENDING_UNREACHABLE'] })
    const later = String(Math.floor(Date.now() / 1000) + 1)
    const ready = ['--status', 'READY', '--for', '600', '--now', later]
    await lane(store, b, 'signal', 'docs', ...surface, ...ready)
    await new Promise((done) => setTimeout(done, 1200))
    expect(await resume(b)).toEqual(complete)
    await lane(store, b, 'read', 'docs')
    await lane(store, b, 'ack', 'docs')
    expect(await lane(store, a, 'commit', 'docs')).toMatchObject({ exit: 0 })
    expect(await resume(a)).toEqual(unsafe)
    expect(await resume(b)).toEqual(complete)
    expect(await resume(b, 'lane:docs')).toEqual(complete)
    expect(await resume(a, 'lane:docs')).toEqual(unsafe)
    // another piece of the same history is bound to no lane
    expect(await resume(a, cids[0])).toMatchObject({ exit: 0, check: 'not made' })
  })
})
