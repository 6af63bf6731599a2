import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { plain } from '../../src/cli/render.ts'
import { bytesOf, envelopeOf, writeEnvelope } from '../support/envelope.ts'
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
  withLevel,
} from '../support/store.ts'
import { makeTerminal } from '../support/terminal.ts'

interface Put {
  readonly cid: string
  readonly body: string
  readonly artifacts: readonly { readonly cid: string; readonly size: number }[]
}

const shared = await makeSharedFolder()
let store: TestStore
let cids: readonly string[]
let copies = 0
const envelope = envelopeOf({ workspace: 'w', revision: 'R', author: agents.merger })

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'store'))
  cids = await putHistory(store)
})

function fresh(): Promise<TestStore> {
  return copyStore(store, path.join(shared, `copy-${++copies}`))
}

/** Puts an envelope with a small and a large file. */
async function putFiles(to: TestStore): Promise<Put> {
  const file = await writeEnvelope(path.join(to.root, 'bundle'), {
    workspace: 'files',
    revision: 'R',
    author: agents.merger,
    files: { 'a.txt': 'abc', 'b.bin': bytesOf('b', 2_000_000) },
  })
  return json<Put>(await ok(to.run('put', file, '--json')))
}

/** Returns the stream where the merger's notes stand. */
async function ownLog(): Promise<string> {
  const { did } = json<{ did: string }>(await ok(store.run('key', 'show', agents.merger, '--json')))
  return `log:${did}`
}

/** Returns the CID of the list of artifacts that an entry links. */
async function listOf(of: TestStore, cid: string): Promise<string> {
  const { out } = await ok(of.run('get', cid, '--entry'))
  return /"artifacts":\{"\/":"(\w+)"/.exec(out)?.[1] ?? ''
}

function change(of: TestStore, cid: string, to: (bytes: Uint8Array) => Uint8Array): Promise<void> {
  return withLevel(of.store, async (level) => {
    const bytes = Uint8Array.from((await level.get(`!blocks!${cid}`)) ?? [])
    await level.put(`!blocks!${cid}`, to(bytes))
  })
}

describe('show', () => {
  it('of an envelope tells its records before the document', async () => {
    const { out } = await ok(store.run('show', historyWorkspace))
    const [fields = '', ...parts] = out.split('\n\n')
    expect(fields).toContain(`cid: ${cids[3]}\nkind: envelope\n`)
    expect(parts[0]).toBe(`created_by: ${agents.merger}\ncreated_on: 2026-03-15T10:35:00Z`)
    expect(parts.slice(1, -1).map((part) => part.split('\n')[0])).toEqual([
      '5 artifacts',
      '4 assessments',
      '6 actions',
      '5 executions',
      '1 conflict',
    ])
    expect(out).toContain(`  ${historyWorkspace}/action/AC0006 (ready, data_collection) for`)
    const { document } = json<{ document: unknown }>(
      await ok(store.run('show', historyWorkspace, '--json')),
    )
    expect(JSON.parse(parts.at(-1)!)).toEqual(document)
  })

  it('of a roster tells who is trusted', async () => {
    const { out } = await ok(store.run('show', 'roster'))
    expect(out).toContain('\n\nversion: 2\nthreshold: 1\n\n1 root\n  did:key:')
    expect(out).toMatch(new RegExp(`\n3 agents\n  ${agents.a} signs with did:key:z6Mk`))
  })

  it('of a certificate tells the verdict and the checks', async () => {
    const resumed = await ok(store.run('resume', historyWorkspace, '--json'))
    const { certificate } = json<{ certificate: string }>(resumed)
    const { out } = await ok(store.run('show', certificate))
    expect(out).toContain(`verdict: complete\nlevel: file\nheads: ${cids[3]}\n`)
    expect(out).toContain('\n  trust ok\n')
    expect(out).toContain('\n  lane not made\n')
  })

  it('of a kind that this version does not judge says so', async () => {
    const streams = { receipt: await ownLog(), 'riddle\u202e': 'csag:w' }
    for (const [kind, stream] of Object.entries(streams)) {
      const more = { kind, name: undefined, stream }
      const { cid } = await forge(store, agents.merger, { a: 'b' }, more)
      const { out } = await ok(store.run('show', cid))
      expect(out).toContain(`this version does not judge what a ${plain(kind)} says\n`)
      expect(out).toContain('{\n  "a": "b"\n}\n')
      expect(out).not.toContain('\u202e')
    }
  })

  it('of an artifact says that its bytes hash, and of one that is damaged that they do not', async () => {
    const copy = await fresh()
    const { artifacts } = await putFiles(copy)
    expect(new Set(artifacts.map(({ size }) => size))).toEqual(new Set([3, 2_000_000]))
    for (const { cid, size } of artifacts) {
      const { out } = await ok(copy.run('show', cid))
      expect(out).toBe(`cid: ${cid}\nkind: artifact\nsize: ${size} bytes, which hash to the CID\n`)
      const shown = json(await ok(copy.run('show', cid, '--json')))
      expect(shown).toEqual({ schema: 'hstore.show/1', cid, kind: 'artifact', size })
    }
    const small = artifacts.find(({ size }) => size === 3)!.cid
    await change(copy, small, () => Buffer.from('abd'))
    const damaged = await copy.run('show', small)
    expect(damaged).toMatchObject({ exit: 5, out: '' })
    expect(damaged.err).toContain(small)
    const none = await copy.run('show', `bafkrei${'a'.repeat(52)}`)
    expect(none).toMatchObject({ exit: 2, out: '' })
  })

  it('of a list of artifacts names them; no other verb takes its CID', async () => {
    const copy = await fresh()
    const { cid, artifacts } = await putFiles(copy)
    const list = await listOf(copy, cid)
    const names = artifacts.map((artifact) => artifact.cid).sort()
    const lines = names.map((name) => `artifact: ${name}\n`).join('')
    expect((await ok(copy.run('show', list))).out).toBe(`cid: ${list}\nkind: list\n${lines}`)
    const shown = json(await ok(copy.run('show', list, '--json')))
    expect(shown).toEqual({ schema: 'hstore.show/1', cid: list, kind: 'list', artifacts: names })
    for (const verb of ['get', 'log', 'verify']) expect((await copy.run(verb, list)).exit).toBe(2)
  })

  it('of a body that looks like a list shows the entry', async () => {
    const copy = await fresh()
    const { artifacts } = await putFiles(copy)
    const links = artifacts.map((artifact) => ({ '/': artifact.cid }))
    const document = { artifacts: links.sort((a, b) => (a['/'] < b['/'] ? -1 : 1)) }
    const { body } = await forge(copy, agents.merger, document, {
      kind: 'riddle',
      name: undefined,
      stream: 'csag:x',
    })
    expect((await ok(copy.run('show', body))).out).toContain('kind: riddle\n')
  })

  it('says in the text and beside it what is not valid', async () => {
    const { cid } = await forge(store, agents.a, envelope, { author: agents.b })
    const { out, err } = await ok(store.run('show', cid))
    expect(out).toMatch(/\nstanding: rejected, for its signer is .*\n/)
    expect(err).toContain(`${cid} is not valid`)
  })

  it('of an entry that can not be read names it, and shows nothing of it', async () => {
    const copy = await fresh()
    await change(copy, cids[0]!, (bytes) => bytes.map((byte, i) => (i === 40 ? byte ^ 1 : byte)))
    const broken = await copy.run('show', cids[0]!)
    expect(broken).toMatchObject({ exit: 5, out: '' })
    expect(broken.err).toContain(cids[0])
    const { body } = json<Put>(await ok(copy.run('show', cids[1]!, '--json')))
    await withLevel(copy.store, (level) => level.del(`!blocks!${body}`))
    const bodiless = await copy.run('show', cids[1]!)
    expect(bodiless).toMatchObject({ exit: 5, out: '' })
    expect(bodiless.err).toContain(body)
  })

  it('escapes what others wrote, whatever its form', async () => {
    const bad = '\u001b[2Jx\ny\u202ez\u0000'
    const records = [
      { id: bad, description: bad, owner: bad, assessment_text: bad },
      bad,
      1,
      null,
      [bad],
    ]
    const odd = {
      ...envelope,
      created_by: [bad],
      created_on: bad,
      source_artifacts: records,
      assessments: records,
      actions: records,
      executions: { id: bad },
      conflicts: bad,
      [bad]: bad,
    }
    const log = await ownLog()
    const roster = {
      agents: [{ id: bad, keys: [null, { did: bad }, 1], aliases: [bad, 1] }],
      roots: [bad],
    }
    const certificate = { checks: [{ name: bad, result: bad }], heads: bad }
    const shapes = [
      { document: odd, more: { name: bad } },
      { document: certificate, more: { kind: 'certificate', name: undefined, stream: log } },
      { document: roster, more: { kind: 'roster', name: '9', stream: 'roster' } },
    ]
    for (const { document, more } of shapes) {
      const copy = await fresh()
      const { cid } = await forge(copy, agents.merger, document, more)
      const { out, err } = await ok(copy.run('show', cid))
      expect(`${out}${err}`.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
    }
  })

  it('goes through the pager, in colour', async () => {
    const terminal = makeTerminal(80)
    const { out } = await ok(store.runWith({ terminal }, 'show', historyWorkspace))
    expect(out).toBe('')
    expect(terminal.paged[0]?.text).toContain(`\u001b[33mcid: ${cids[3]}\u001b[39m\n`)
    expect(terminal.paged[0]?.text).toContain('\u001b[1m6 actions\u001b[22m\n')
  })
})
