import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { widthOf } from '../../src/cli/fit.ts'
import { envelopeOf } from '../support/envelope.ts'
import { forge } from '../support/forge.ts'
import { historyWorkspace } from '../support/history.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
  putHistory,
} from '../support/store.ts'
import { makeTerminal } from '../support/terminal.ts'

interface Log {
  readonly entries: readonly { readonly cid: string; readonly standing: string }[]
}

const shared = await makeSharedFolder()
let bare: TestStore
let store: TestStore
let cids: readonly string[]
let copies = 0

beforeAll(async () => {
  bare = await makeTestStore(path.join(shared, 'bare'))
  store = await fresh()
  cids = await putHistory(store)
})

function fresh(): Promise<TestStore> {
  return copyStore(bare, path.join(shared, `copy-${++copies}`))
}

function put(to: TestStore, document: object, ...more: string[]): Promise<string> {
  const stdin = JSON.stringify(document)
  return ok(to.runWith({ stdin }, 'put', '-', ...more)).then(({ out }) => out.trim())
}

/** Returns an envelope of the merger that may be called anything. */
function called(revision: string, workspace = 'w'): object {
  const envelope = envelopeOf({ workspace, revision: 'x', author: agents.merger })
  return { ...envelope, revision, current_heads: [revision] }
}

/** Returns what a terminal of `columns` shows. */
async function seen(of: TestStore, columns: number, ...argv: string[]): Promise<string> {
  const terminal = makeTerminal(columns)
  await ok(of.runWith({ terminal, env: { NO_COLOR: '1' } }, ...argv))
  return terminal.paged.map(({ text }) => text).join('')
}

describe('log of a stream with several heads', () => {
  it('shows all of them with their ancestors', async () => {
    const forked = await fresh()
    const heads = [await put(forked, called('A')), await put(forked, called('B'))]
    const { entries } = json<Log>(await ok(forked.run('log', 'csag:w', '--json')))
    expect(entries.map(({ cid }) => cid).sort()).toEqual(heads.sort())
    expect((await ok(forked.run('log', 'w', '--graph'))).out.split('\n')).toHaveLength(4)
  })

  it('shows both documents of an equivocation', async () => {
    const split = await fresh()
    for (const note of ['one', 'two']) {
      const envelope = envelopeOf({ workspace: 'w', revision: 'R', author: agents.merger, note })
      await forge(split, agents.merger, envelope)
    }
    expect(json<Log>(await ok(split.run('log', 'w', '--json'))).entries).toHaveLength(2)
    expect((await split.run('log', 'w/revision/R')).exit).toBe(6)
  })

  it('still refuses a name with other readings', async () => {
    const other = await fresh()
    const named = [await put(other, called('w', 'v')), await put(other, called('A'))]
    const { exit, err } = await other.run('log', 'w')
    expect(exit).toBe(2)
    for (const cid of named) expect(err).toContain(cid)
  })
})

describe('log of entries by a key that was frozen or taken back', () => {
  it.each([
    ['frozen', (of: TestStore) => of.run('freeze', '--as', agents.a, '--yes')],
    [
      'taken back',
      async (of: TestStore) => {
        const { did } = json<{ did: string }>(await ok(of.run('key', 'show', agents.a, '--json')))
        return of.run('roster', 'revoke', agents.a, did, '--as-of-head', '--yes')
      },
    ],
  ])('%s: shows them as before, in every form', async (_, end) => {
    const ended = await copyStore(store, path.join(shared, `copy-${++copies}`))
    const forms = [[], ['--graph'], ['-z']]
    const shown = (): Promise<string[]> =>
      Promise.all(
        forms.map(async (form) => (await ok(ended.run('log', historyWorkspace, ...form))).out),
      )
    const before = await shown()
    await ok(end(ended))
    expect(await shown()).toEqual(before)
    const { entries } = json<Log>(await ok(ended.run('log', historyWorkspace, '--json')))
    expect(entries.map(({ standing }) => standing)).toEqual(cids.map(() => 'valid'))
  })
})

describe('log --graph', () => {
  it('has the full CID where nobody looks', async () => {
    const { out } = await ok(store.run('log', historyWorkspace, '--graph'))
    for (const cid of cids) expect(out).toContain(` ${cid}\n`)
    expect(out.split('\n')[1]).toBe('|\\')
  })

  it('shortens CIDs and then names to the width of the terminal, never a mark', async () => {
    expect((await seen(store, 1, 'log', historyWorkspace, '--graph')).match(/\*/g)).toHaveLength(4)
    for (const columns of [20, 40, 80, 90, 200]) {
      const text = await seen(store, columns, 'log', historyWorkspace, '--graph')
      expect(text.match(/\*/g)).toHaveLength(4)
      for (const line of text.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(columns)
    }
    expect(await seen(store, 90, 'log', historyWorkspace, '--graph')).toContain(
      `csag:agent/agent-b ${cids[2]!.slice(0, 13)}…\n`,
    )
    expect(await seen(store, 200, 'log', historyWorkspace, '--graph')).toContain(` ${cids[2]}\n`)
  })

  it('says in words what is not valid, however long and wide the names are', async () => {
    const odd = await fresh()
    const revision = `${'長い名前'.repeat(40)} 👩‍🚀 e\u0301`
    const rejected = await forge(odd, agents.a, called('A'), { author: agents.b, name: 'A' })
    const held = await forge(odd, agents.merger, called('B'), {
      parents: [rejected.cid],
      roster: rejected.body,
    })
    const top = await forge(odd, agents.merger, called(revision), { parents: [held.cid] })
    const text = await seen(odd, 80, 'log', top.cid, '--graph')
    expect(text.split('\n').slice(0, -1)).toEqual([
      expect.stringMatching(/^\* 長い.*…/),
      expect.stringContaining('(held)'),
      expect.stringContaining('(rejected)'),
    ])
    for (const line of text.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(80)
    const narrow = await seen(odd, 24, 'log', held.cid, '--graph')
    expect(narrow).toMatch(/\(held\).*\n.*\(rejected\)/)
  })

  it('stays within 80 columns with 60 forks that one merge joins', async () => {
    const wide = await fresh()
    const root = await forge(wide, agents.merger, called('R'))
    const forks: string[] = []
    for (let i = 0; i < 60; i++) {
      const fork = await forge(wide, agents.merger, called(`F${i}`), { parents: [root.cid] })
      forks.push(fork.cid)
    }
    const parents = forks.sort() as (typeof root.cid)[]
    const top = await forge(wide, agents.merger, called('M'), { parents })
    const text = await seen(wide, 80, 'log', top.cid, '--graph')
    for (const line of text.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(80)
    for (let i = 0; i < 60; i++) expect(text).toContain(` F${i} by `)
    expect((await seen(wide, 80, 'log', top.cid, '--graph', '-n', '3')).match(/\*/g)).toHaveLength(
      3,
    )
  })

  it('leaves the JSON as it is, and goes without -z', async () => {
    const plain = await ok(store.run('log', historyWorkspace, '--json'))
    expect((await ok(store.run('log', historyWorkspace, '--json', '--graph'))).out).toBe(plain.out)
    expect((await store.run('log', historyWorkspace, '-z', '--graph')).exit).toBe(2)
    expect((await store.run('log', historyWorkspace, '-z', '--json')).exit).toBe(2)
    expect((await store.run('heads', '-z', '--json')).exit).toBe(2)
  })
})

describe('names from others', () => {
  const names = ['R\u001b[2J', 'two\nlines\tand a tab', '\u202egnp.exe', '', ' by csag:agent/x']

  it('are escaped on one line each, and given as they are by -z', async () => {
    const named = await fresh()
    let parents: (typeof last)['cid'][] = []
    let last = await forge(named, agents.merger, called('first'))
    for (const name of names) {
      parents = [last.cid]
      last = await forge(named, agents.merger, called(name), { parents })
    }
    for (const argv of [['log', 'w'], ['log', 'w', '--graph'], ['heads']]) {
      const { out } = await ok(named.run(...argv))
      expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
      expect(out.split('\n')).toHaveLength(argv[0] === 'heads' ? 2 : 7)
    }
    const { out } = await ok(named.run('log', 'w', '-z'))
    const records = out.split('\u0000')
    expect(records.pop()).toBe('')
    const fields = records.map((one) =>
      /^(\S+)\t(\S+)\t(\S+)\t([^\t]+)\t([^\t]+)\t(.*)$/s.exec(one),
    )
    expect(fields.map((found) => found?.[6])).toEqual([...names.toReversed(), 'first'])
    expect(fields[0]?.slice(1, 6)).toEqual([
      last.cid,
      'envelope',
      'valid',
      parents[0],
      agents.merger,
    ])
    expect(fields.at(-1)?.[4]).toBe('-')
    const heads = await ok(named.run('heads', '-z'))
    expect(heads.out).toBe(`${last.cid}\tcsag:w\t${agents.merger}\t${names.at(-1)}\u0000`)
  })

  it('never end a record of -z with a NUL of their own', async () => {
    const named = await fresh()
    const { cid } = await forge(named, agents.merger, called('a\u0000b'))
    const record = `${cid}\tcsag:w\t${agents.merger}\ta\ufffdb\u0000`
    expect((await ok(named.run('heads', '-z'))).out).toBe(record)
  })
})

describe('colours', () => {
  const argv = ['log', historyWorkspace]
  const shown = async (env: Record<string, string>, columns?: number): Promise<string> => {
    const terminal = columns === undefined ? {} : { terminal: makeTerminal(columns) }
    return (await ok(store.runWith({ ...terminal, env: { PAGER: '', ...env } }, ...argv))).out
  }

  it('are there on a terminal and nowhere else, and say nothing of their own', async () => {
    const coloured = await shown({}, 80)
    expect(coloured).toContain(`\u001b[33m${cids[3]}\u001b[39m`)
    const bare = await shown({})
    // oxlint-disable-next-line no-control-regex -- colours are what is taken away
    expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(bare)
    for (const env of [{ NO_COLOR: '1' }, { NO_COLOR: '0' }, { TERM: 'dumb' }]) {
      expect(await shown(env, 80)).toBe(bare)
    }
    expect(await shown({ NO_COLOR: '' }, 80)).toBe(coloured)
  })
})

describe('the pager', () => {
  const argv = ['log', historyWorkspace]

  it('is HSTORE_PAGER, PAGER or less, on a terminal only', async () => {
    const commands = async (env: Record<string, string>, ...more: string[]): Promise<string[]> => {
      const terminal = makeTerminal(80)
      const { out } = await ok(store.runWith({ terminal, env }, ...argv, ...more))
      expect(out === '').toBe(terminal.paged.length > 0)
      return terminal.paged.map(({ command }) => command)
    }
    expect(await commands({ HSTORE_PAGER: 'more -s', PAGER: 'most' })).toEqual(['more -s'])
    expect(await commands({ PAGER: 'most' })).toEqual(['most'])
    expect(await commands({})).toEqual(['less'])
    for (const none of ['', ' ', 'cat']) {
      expect(await commands({ HSTORE_PAGER: none, PAGER: 'most' })).toEqual([])
      expect(await commands({ PAGER: none })).toEqual([])
    }
    expect(await commands({ PAGER: 'most' }, '--json')).toEqual([])
    expect(await commands({ PAGER: 'most' }, '-z')).toEqual([])
    expect((await ok(store.runWith({ env: { PAGER: 'most' } }, ...argv))).out).not.toBe('')
  })

  it('gets LESS=FRX unless LESS is set, and never the passphrase', async () => {
    const terminal = makeTerminal(80)
    await ok(store.runWith({ terminal, env: { HSTORE_PASSPHRASE: 'secret' } }, ...argv))
    await ok(store.runWith({ terminal, env: { LESS: 'S' } }, ...argv))
    expect(terminal.paged.map(({ env }) => env['LESS'])).toEqual(['FRX', 'S'])
    expect(JSON.stringify(terminal.paged[0]?.env)).not.toContain('secret')
    expect(terminal.paged[0]?.env['HSTORE_STORE']).toBe(store.store)
  })

  it('is not started for nothing', async () => {
    const terminal = makeTerminal(80)
    await ok(store.runWith({ terminal }, 'diff', cids[0]!, cids[0]!))
    expect(terminal.paged).toEqual([])
  })

  it('that can not be started leaves the text to stdout', async () => {
    const terminal = makeTerminal(80, false)
    const { out } = await ok(store.runWith({ terminal, env: { NO_COLOR: '1' } }, ...argv))
    expect(out).toBe((await ok(store.run(...argv))).out)
  })

  it('is shown when the store is closed already', async () => {
    const page = async (): Promise<boolean> => {
      expect((await store.run('heads', '--wait', '0')).exit).toBe(0)
      return true
    }
    await ok(store.runWith({ terminal: { columns: 80, page } }, ...argv))
  })
})

describe('log of what a key attests', () => {
  it('lists the certificates of a key by its stream, and what was before one', async () => {
    const to = await fresh()
    const revision = await put(to, called('R1'))
    const resumed = await ok(to.run('resume', revision, '--json'))
    const { certificate } = json<{ certificate: string }>(resumed)
    const second = json<{ certificate: string }>(
      await ok(to.run('resume', await put(to, called('R1', 'other')), '--json')),
    ).certificate
    const did = json<{ did: string }>(await ok(to.run('key', 'show', agents.merger, '--json'))).did
    const listed = async (ref: string, ...more: string[]): Promise<readonly string[]> =>
      json<Log>(await ok(to.run('log', ref, '--json', ...more))).entries.map(({ cid }) => cid)
    expect(await listed(`log:${did}`)).toEqual([second, certificate])
    expect(await listed(`log:${did}`, '-n', '1')).toEqual([second])
    expect(await listed(certificate)).toEqual([certificate])
    const { streams } = json<{ streams: readonly { stream: string }[] }>(
      await ok(to.run('status', '--json')),
    )
    expect(streams.map(({ stream }) => stream)).toEqual(['csag:other', 'csag:w'])
  })
})
