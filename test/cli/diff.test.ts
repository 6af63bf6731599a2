import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { DiffReport } from '../../src/index.ts'
import { envelopeOf } from '../support/envelope.ts'
import { forge } from '../support/forge.ts'
import { historyFiles, historyWorkspace } from '../support/history.ts'
import type { Ran } from '../support/cli.ts'
import type { TestStore } from '../support/store.ts'
import { agents, json, makeSharedFolder, makeTestStore, ok, putHistory } from '../support/store.ts'
import { makeTerminal } from '../support/terminal.ts'

const shared = await makeSharedFolder()
let store: TestStore
let cids: readonly string[]
const revision = (name: string): string => `${historyWorkspace}/revision/${name}`

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'store'))
  cids = await putHistory(store)
})

/** Returns the diff of two documents of an author who keeps no contract. */
async function diffOf(a: object, b: object, ...more: string[]): Promise<Ran> {
  const base = envelopeOf({ workspace: 'odd', revision: 'R', author: agents.merger })
  const made: string[] = []
  for (const [i, change] of [a, b].entries()) {
    const { cid } = await forge(store, agents.merger, { ...base, revision: `R${i}`, ...change })
    made.push(cid)
  }
  return store.run('diff', ...made, ...more)
}

describe('diff', () => {
  it('shows records, not lines, and exits with 1', async () => {
    const { exit, out, err } = await store.run('diff', revision('R0002-agent-b'), revision('R0003'))
    expect({ exit, err }).toEqual({ exit: 1, err: '' })
    const lines = out.split('\n')
    expect(lines[0]).toBe(`--- ${cids[2]} ${revision('R0002-agent-b')} by ${agents.b}`)
    expect(lines[1]).toBe(`+++ ${cids[3]} ${revision('R0003')} by ${agents.merger}`)
    expect(lines).toContain(`~ conflict ${historyWorkspace}/conflict/CF0001`)
    expect(lines).toContain('    conflict_status: open -> resolved')
    expect(lines).toContain(`    parents: - ${revision('R0001')}`)
    expect(out).toContain(`+ action ${historyWorkspace}/action/AC0006 (ready, data_collection) for`)
    const back = (await store.run('diff', cids[3]!, cids[2]!)).out
    expect(back).toContain(`- action ${historyWorkspace}/action/AC0006`)
  })

  it('of equals is empty and exits with 0', async () => {
    for (const b of [cids[3]!, historyWorkspace, revision('R0003')]) {
      expect(await store.run('diff', cids[3]!, b)).toMatchObject({ exit: 0, out: '', err: '' })
    }
    const same = await ok(store.run('diff', cids[3]!, historyWorkspace, '--json'))
    expect(json<DiffReport>(same)).toMatchObject({
      a: { cid: cids[3] },
      b: { cid: cids[3] },
      added: [],
      changed: [],
      dropped: [],
    })
  })

  it('is one object with --json, with the records and the pointers into them', async () => {
    const ran = await store.run('diff', cids[0]!, cids[1]!, '--json')
    expect(ran.exit).toBe(1)
    const { schema, added, changed, dropped } = json<DiffReport & { schema: string }>(ran)
    expect(schema).toBe('hstore.diff/1')
    expect(added.map(({ kind, id }) => `${kind} ${id}`)).toEqual([
      `assessment ${historyWorkspace}/assessment/AS0002`,
      `execution ${historyWorkspace}/execution/EX0002`,
    ])
    expect(changed.at(-1)).toEqual({
      kind: 'action',
      id: `${historyWorkspace}/action/AC0002`,
      fields: [{ pointer: '/action_status', from: 'ready', to: 'completed' }],
    })
    expect(dropped).toEqual([])
  })

  it('is refused with 2 for two kinds, for artifacts and for one REF alone', async () => {
    const kinds = await store.run('diff', cids[0]!, 'roster')
    expect(kinds).toMatchObject({ exit: 2, out: '' })
    expect(kinds.err).toMatch(/kind envelope .* kind roster/)
    const file = historyFiles[0]!.file
    const put = await ok(store.run('put', file, '--as', agents.a, '--json'))
    const artifact = json<{ artifacts: { cid: string }[] }>(put).artifacts[0]!.cid
    expect((await store.run('diff', artifact, artifact)).exit).toBe(2)
    expect((await store.run('diff', cids[0]!)).exit).toBe(2)
  })

  it('compares rosters by their agents', async () => {
    const { body } = json<{ body: string }>(await ok(store.run('roster', 'show', '--json')))
    const { exit, out } = await store.run('diff', store.genesis, body)
    expect(exit).toBe(1)
    expect(out).toContain(`+ agent ${agents.a} signs with did:key:z6Mk`)
    expect(out).toContain('    version: 0 -> 2\n')
  })

  it('shows where long texts differ, and lists by their members', async () => {
    const long = 'word '.repeat(1000)
    const { out } = await diffOf(
      { actions: [{ id: 'A', text: `${long}one`, list: ['x', 'y'], same: ['p', 'q'], was: null }] },
      { actions: [{ id: 'A', text: `${long}two`, list: ['y', 'z'], same: ['q', 'p'], now: [] }] },
    )
    const lines = out.split('\n').filter((line) => line.startsWith('    '))
    expect(lines.slice(-6)).toEqual([
      '    list: - x',
      '    list: + z',
      '    now: (none) -> []',
      '    same: in another order',
      '    text: …" word word word one" -> …" word word word two"',
      '    was: null -> (none)',
    ])
  })

  it('tells texts from what they look like', async () => {
    const { out } = await diffOf(
      { actions: [{ id: 'A', n: 1, t: 'true', u: 'a -> b', v: '' }] },
      { actions: [{ id: 'A', n: '1', t: true, u: 'x', v: ' ' }] },
    )
    for (const line of ['n: 1 -> "1"', 't: "true" -> true', 'u: "a -> b" -> x', 'v: "" -> " "']) {
      expect(out).toContain(`    ${line}\n`)
    }
  })

  it('escapes what others wrote, whatever its form', async () => {
    const bad = '\u001b[2Jx\ny\u202ez\u0000'
    const records = [
      { id: bad, [bad]: bad, description: bad, owner: bad, list: [bad], inputs: [{ id: bad }] },
      { id: 'same', [bad]: bad, list: [bad] },
      bad,
      { id: 1, [bad]: 1 },
      [bad],
      null,
    ]
    const lists = {
      actions: records,
      executions: records,
      conflicts: records,
      assessments: records,
    }
    const { out, exit } = await diffOf(
      { ...lists, source_artifacts: records, [bad]: 1 },
      { actions: [{ id: 'same', list: ['z'] }], executions: bad, conflicts: null, [bad]: [bad] },
    )
    expect(exit).toBe(1)
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
    for (const line of out.trimEnd().split('\n'))
      expect(line).toMatch(/^(?:---|\+\+\+|[+~-]) |^ {4}\S/)
    const turned = await diffOf({ id: 'x' }, { ...lists, id: bad }, '--json')
    expect(turned.out.trimEnd()).not.toMatch(/[\p{Cc}\u202e]/u)
  })

  it('says when one of the two is not valid', async () => {
    const envelope = envelopeOf({ workspace: 'v', revision: 'R', author: agents.merger })
    const { cid } = await forge(store, agents.a, envelope, { author: agents.b })
    const { err } = await store.run('diff', cid, cids[0]!)
    expect(err).toContain(`${cid} is not valid`)
  })

  it('has colours and a pager on a terminal', async () => {
    const terminal = makeTerminal(80)
    const { exit } = await store.runWith({ terminal }, 'diff', cids[2]!, cids[3]!)
    expect(exit).toBe(1)
    const text = terminal.paged.map((paged) => paged.text).join('')
    expect(text).toContain('\u001b[32m+ action')
    // oxlint-disable-next-line no-control-regex -- colours are what is taken away
    const bare = text.replaceAll(/\u001b\[\d+m/g, '')
    expect(bare).toBe((await store.run('diff', cids[2]!, cids[3]!)).out)
  })
})
