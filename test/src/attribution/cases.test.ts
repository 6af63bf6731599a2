import { cp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { hstoreRules } from '../../../src/rules/hstore-rules.ts'
import { historyBundle, historyFiles, historyWorkspace } from '../../support/history.ts'
import type { TestStore } from '../../support/store.ts'
import {
  copyStore,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
} from '../../support/store.ts'

type Fields = Readonly<Record<string, unknown>>

interface Case {
  readonly name: string
  readonly revisions: readonly {
    readonly by: string
    readonly set?: Readonly<Record<string, Fields>>
    readonly add?: Readonly<Record<string, readonly Fields[]>>
    readonly drop?: readonly string[]
  }[]
  readonly record: string
  readonly verdict: string
  readonly codes: readonly string[]
  readonly exit: { readonly resume: number; readonly verify: number; readonly blame: number }
}

interface Blamed {
  readonly findings: readonly { readonly code: string; readonly pointer?: string }[]
  readonly records: readonly {
    readonly id: string
    readonly kind: string
    readonly verdict: string
    readonly first: { readonly cid: string; readonly author: string }
    readonly since: { readonly cid: string }
    readonly changes: readonly {
      readonly cid: string
      readonly author: string
      readonly status: string | null
    }[]
  }[]
}

const home = fileURLToPath(new URL('../../../fixtures/attribution/cases.json', import.meta.url))
const cases = JSON.parse(await readFile(home, 'utf8')) as readonly Case[]
const lists = ['assessments', 'actions', 'executions', 'conflicts'] as const
const shared = await makeSharedFolder()
let full: TestStore
let cids: readonly string[]

beforeAll(async () => {
  full = await makeTestStore(path.join(shared, 'full'))
  cids = await putHistory(full)
})

/** Returns a copy of the store with the history, in which a case has been put. */
async function storeOf({ revisions }: Case, i: number): Promise<TestStore> {
  const store = await copyStore(full, path.join(shared, `case-${i}`))
  const bundle = path.join(store.root, 'bundle')
  await cp(historyBundle, bundle, { recursive: true })
  let document = JSON.parse(await readFile(historyFiles[3]!.file, 'utf8')) as Fields
  for (const [j, { by, set = {}, add = {}, drop = [] }] of revisions.entries()) {
    const name = `${historyWorkspace}/revision/R000${j + 4}`
    const changed = lists.map((list) => {
      const records = [...(document[list] as Fields[]), ...(add[list] ?? [])]
      const kept = records.filter(({ id }) => !drop.some((end) => String(id).endsWith(end)))
      return [list, kept.map((record) => ({ ...record, ...set[String(record['id']).slice(-6)] }))]
    })
    document = {
      ...document,
      ...Object.fromEntries(changed),
      conflicts: [], // resolved by R0003: no later revision may keep it
      revision: name,
      parents: [document['revision']],
      current_heads: [name],
      created_by: `csag:agent/${by}`,
    }
    const file = path.join(bundle, `next-${j}.json`)
    await writeFile(file, JSON.stringify(document))
    await ok(store.run('put', file, '--as', `csag:agent/${by}`))
  }
  return store
}

describe('the cases of fixtures/attribution', () => {
  it.each(cases.map((one, i) => ({ ...one, i })))('$name', async ({ i, ...one }) => {
    const store = await storeOf(one, i)
    const ofWords = (findings: Blamed['findings']): readonly string[] =>
      findings.map(({ code }) => code).filter((code) => code.startsWith('HS21'))
    for (const argv of [
      ['blame', historyWorkspace],
      ['verify', historyWorkspace],
      ['verify', '--all'],
      ['resume', historyWorkspace, '--no-certificate'],
    ]) {
      const ran = await store.run(...argv, '--json')
      const wanted = one.exit[argv[0] as keyof Case['exit']]
      expect({ argv, exit: ran.exit }).toEqual({ argv, exit: wanted })
      expect(ofWords(json<Blamed>(ran).findings)).toEqual(one.codes)
    }
    const { records } = json<Blamed>(await store.run('blame', historyWorkspace, '--json'))
    expect(records.find(({ id }) => id.endsWith(one.record))!.verdict).toBe(one.verdict)
    const others = records.filter(({ id }) => !id.endsWith(one.record))
    const odd = others.filter(({ verdict }) => verdict !== 'proven')
    expect(odd.map(({ kind, verdict }) => [kind, verdict])).toEqual([['conflict', 'dropped']])
  })

  it('trip every finding of attribution', () => {
    const tripped = new Set(cases.flatMap(({ codes }) => codes))
    const codes = hstoreRules.map(({ code }) => code).filter((code) => code.startsWith('HS21'))
    expect([...tripped].sort()).toEqual(codes)
  })

  it('are seen behind a certificate, and so is what is brought back from behind it', async () => {
    const [stale] = cases.filter(({ codes }) => codes.includes('HS2102'))
    const store = await storeOf(stale!, cases.length)
    const resume = async (revision: string): Promise<Blamed & { verdict: string }> =>
      json(await store.run('resume', `${historyWorkspace}/revision/${revision}`, '--json'))
    expect((await resume('R0003')).verdict).toBe('complete')
    expect((await resume('R0004')).verdict).toBe('complete')
    const last = await resume('R0005')
    expect(last.verdict).toBe('unsafe')
    expect(last.findings.map(({ code }) => code)).toContain('HS2102')
  })
})

describe('the history in fixtures/', () => {
  it('has no record that is not proven, the resolved conflict included', async () => {
    for (const cid of cids) {
      const { findings, records } = json<Blamed>(await ok(full.run('blame', cid, '--json')))
      expect(findings).toEqual([])
      expect(new Set(records.map(({ verdict }) => verdict))).toEqual(new Set(['proven']))
    }
    const { records } = json<Blamed>(await ok(full.run('blame', cids[3]!, '--json')))
    expect(records).toHaveLength(16)
    const conflict = records.find(({ kind }) => kind === 'conflict')!
    expect(conflict.first).toMatchObject({ cid: cids[2], author: 'csag:agent/agent-b' })
    expect(conflict.changes.map(({ cid, status }) => [cid, status])).toEqual([
      [cids[2], 'open'],
      [cids[3], 'resolved'],
    ])
  })

  it('is told record by record', async () => {
    const { out } = await ok(full.run('blame', cids[3]!))
    expect(out).toContain(
      `proven conflict ${historyWorkspace}/conflict/CF0001 of csag:agent/agent-b\n  ${cids[2]!} `,
    )
    expect(out).toContain('by csag:agent/merger: -> superseded\n')
  })

  it('is blamed by envelopes alone', async () => {
    expect((await full.run('blame', 'roster')).exit).toBe(2)
    expect((await full.run('blame', 'csag:nowhere')).exit).toBe(2)
  })
})
