import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { RelaySteps } from '../../src/relay/steps.ts'
import type { Ran } from '../support/cli.ts'
import type { TestStore } from '../support/store.ts'
import { json, ok, storeAt, withLevel } from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'
import { appended, draftBy, freshRelay } from '../src/turns/relays.ts'

const request = (more: Record<string, string> = {}) => ({
  flags: { relation: 'review_request', requires: 'a run', expected_output: 'a verdict', ...more },
})
const result = (evidence: string) => ({
  flags: { relation: 'review_result', decision: 'approve', evidence },
})

/** Returns a store of alpha that holds a relay. */
async function storeOf(relay: string): Promise<TestStore> {
  const store = storeAt(await makeTempFolder(), '')
  await ok(store.run('init', '--as', 'alpha', '--no-passphrase'))
  await writeFile(`${store.root}/M8SHIFT.md`, relay)
  await ok(store.run('turn', 'import', 'M8SHIFT.md', '--relay', 'demo'))
  return store
}

const resume = (store: TestStore, ...argv: string[]): Promise<Ran> =>
  store.run('resume', 'm8:demo', ...argv)
const stepsOf = (ran: Ran): RelaySteps | null => json<{ relay: RelaySteps | null }>(ran).relay

describe('hstore resume on a relay', () => {
  const asked = appended(
    appended(freshRelay, draftBy('alpha', { ask: 'look at it', ...request() })),
    draftBy('beta', { ask: 'say more\u001b[2J', body: 'First.\n\nLast.', ...result('') }),
  )

  it('tells head, last ask and missing evidence, and is partial over witness turns', async () => {
    const store = await storeOf(asked)
    const ran = await resume(store)
    expect(ran.exit).toBe(1)
    expect(ran.out).toContain('verdict: partial\n')
    expect(ran.out).toContain('head:    turn 2 of beta to alpha (witness)\n')
    expect(ran.out).toContain('evidence wanted by turn 1 of alpha to beta: a run\n')
    expect(ran.out).toContain(
      'next: turn 2 of beta to alpha (witness) asks: say more\\x1b[2J\n      | First.\n      | \n      | Last.\n',
    )
    expect(ran.out).toMatch(/^certificate: baguq/m)
    const { head, ask, evidence } = stepsOf(await resume(store, '--json'))!
    expect(head).toMatchObject({ number: '2', agent: 'beta', to: 'alpha', witness: true })
    expect(ask).toMatchObject({ cid: head.cid, ask: 'say more\u001b[2J', isAnswered: false })
    expect(evidence).toMatchObject([{ number: '1', requires: 'a run' }])
  })

  it('knows what was answered, and evidence that was brought', async () => {
    let relay = appended(asked, draftBy('alpha', request({ requires: 'another run' })))
    relay = appended(relay, draftBy('beta', result('run 7')))
    relay = appended(relay, draftBy('alpha'))
    const { head, ask, evidence } = stepsOf(await resume(await storeOf(relay), '--json'))!
    expect(head).toMatchObject({ number: '5', agent: 'alpha' })
    expect(ask).toMatchObject({ number: '4', isAnswered: true })
    // the first was answered without any, and still wants it
    expect(evidence).toMatchObject([{ number: '1', requires: 'a run' }])
    relay = appended(relay, draftBy('beta', result('run 1')))
    expect(stepsOf(await resume(await storeOf(relay), '--json'))?.evidence).toEqual([])
  })

  it.each([
    ['none', '—', 'review_result'],
    ['nothing in words', '...', 'review_result'],
    [
      'a block that is not there',
      'run bafkreihmdcdq2em3s52ttlan4usuplemru2lwe7ilnpbiln7us2knzpcii',
      'review_result',
    ],
    ['another relation', 'run 1', 'handoff'],
  ])('still wants evidence where the answer brings %s', async (_, evidence, relation) => {
    const flags = { ...result(evidence).flags, relation }
    const first = appended(freshRelay, draftBy('alpha', request()))
    const store = await storeOf(appended(first, draftBy('beta', { flags })))
    expect(stepsOf(await resume(store, '--json'))?.evidence).toMatchObject([{ number: '1' }])
  })

  it.each([
    ['a result that nobody asked for', result('run 1').flags, 'HS4315'],
    ['a waiver for no reason', { decision: 'waive', waiver_reason: '..' }, 'HS4316'],
    [
      'evidence that is not there',
      { evidence: 'bafkreihmdcdq2em3s52ttlan4usuplemru2lwe7ilnpbiln7us2knzpcii' },
      'HS4317',
    ],
  ])('is partial over %s, and verify ends with 1', async (_, flags, code) => {
    const alone = freshRelay.replace(/<!-- M8SHIFT:TURN 0[^]*END -->\n/, '')
    const store = await storeOf(appended(alone, draftBy('alpha', { flags })))
    const ran = await resume(store, '--json')
    const { verdict, findings, checks } = json<{
      verdict: string
      findings: { code: string; severity: string }[]
      checks: { name: string; result: string }[]
    }>(ran)
    expect([ran.exit, verdict]).toEqual([1, 'partial'])
    expect(findings.filter(({ severity }) => severity === 'error')).toMatchObject([{ code }])
    expect(checks).toContainEqual({ name: 'contract', result: 'failed' })
    expect((await store.run('verify')).exit).toBe(1)
  })

  it('asks nothing of an agent that nobody wrote to', async () => {
    const store = await storeOf(freshRelay)
    const ran = await resume(store)
    expect(ran.out).toContain('next: nothing is open for alpha\n')
    expect(stepsOf(await resume(store, '--json'))?.ask).toBeNull()
  })

  it('is complete over turns of its own, and judges no more of them than it has to', async () => {
    const alone = freshRelay.replace(/<!-- M8SHIFT:TURN 0[^]*END -->\n/, '')
    const store = await storeOf(appended(appended(alone, draftBy('alpha')), draftBy('alpha')))
    expect((await resume(store)).exit).toBe(0)
    const again = await resume(store)
    expect(again.exit).toBe(0)
    expect(again.out).toContain('verified before')
    expect(again.out).toContain('head:    turn 2 of alpha to beta\n')
  })

  it('stays shut over a damaged turn, and says nothing of the relay', async () => {
    const store = await storeOf(asked)
    const { body } = json<{ body: string }>(await ok(store.run('show', 'm8:demo', '--json')))
    await withLevel(store.store, async (level) => {
      for await (const key of level.keys()) {
        if (!key.endsWith(body)) continue
        const value = Buffer.from((await level.get(key)) ?? [])
        if (value.includes('say more'))
          await level.put(key, Buffer.from(value.toString().replace('say more', 'say less')))
      }
    })
    const ran = await resume(store, '--json')
    expect(ran.exit).toBe(5)
    expect(stepsOf(ran)).toBeNull()
  })

  it('lays out no bundle', async () => {
    const ran = await resume(await storeOf(asked), '--out', 'bundle')
    expect(ran.exit).toBe(2)
  })

  it('still refuses a note', async () => {
    const store = await storeOf(asked)
    const { cid } = json(
      await ok(store.run('turn', 'import', 'M8SHIFT.md', '--relay', 'demo', '--json')),
    )
    const ran = await store.run('resume', String(cid))
    expect([ran.exit, ran.err]).toEqual([2, expect.stringContaining('is a relay')])
  })
})
