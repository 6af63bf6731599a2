import { readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { encodeFormText } from '../../store/canonical.ts'
import { bytesOf, envelopeOf, writeEnvelope } from '../support/envelope.ts'
import { forge } from '../support/forge.ts'
import { payloadIn, readRaw } from '../support/raw-blocks.ts'
import type { TestStore } from '../support/store.ts'
import {
  agents,
  copyStore,
  filesIn,
  json,
  makeSharedFolder,
  makeTestStore,
  ok,
} from '../support/store.ts'

const shared = await makeSharedFolder()
let empty: TestStore
let copies = 0

beforeAll(async () => {
  empty = await makeTestStore(path.join(shared, 'empty'))
})

const fresh = (): Promise<TestStore> => copyStore(empty, path.join(shared, `copy-${copies++}`))
const document = (revision: string, more: object = {}) =>
  envelopeOf({ workspace: 'w', revision, author: agents.a, ...more })

async function put(store: TestStore, value: object, ...more: string[]) {
  const options = { stdin: JSON.stringify(value) }
  const ran = await store.runWith(options, 'put', '-', '--as', agents.a, '--json', ...more)
  return json<{ cid: string; seq: number; parents: string[] }>(await ok(Promise.resolve(ran)))
}

describe('the chain of a signer', () => {
  it('joins the 64 latest of more tips, then the rest', async () => {
    const store = await fresh()
    const tips: string[] = []
    for (let i = 0; i < 66; i++) {
      tips.push((await forge(store, agents.a, document(`T${i}`))).cid)
    }
    const longer = await forge(store, agents.a, document('L'), {
      prev: [tips[0]! as never],
      seq: 2,
    })
    const sorted = tips.slice(1).sort()
    const prevOf = async (cid: string): Promise<readonly string[]> => {
      const { blocks } = await readRaw(store)
      return payloadIn(blocks.get(cid)!)!.prev.map((link) => link['/'])
    }
    const first = await put(store, document('R1'))
    expect(first.seq).toBe(3)
    expect(await prevOf(first.cid)).toEqual([longer.cid, ...sorted.slice(0, 63)].sort())
    const second = await put(store, document('R2'))
    expect(second.seq).toBe(4)
    expect(await prevOf(second.cid)).toEqual([first.cid, ...sorted.slice(63)].sort())
    expect((await store.run('verify', '--all')).exit).toBe(0)
  })

  it('is not followed past the last number', async () => {
    const store = await fresh()
    await forge(store, agents.a, document('T'), { seq: Number.MAX_SAFE_INTEGER })
    const options = { stdin: JSON.stringify(document('R')) }
    const ran = await store.runWith(options, 'put', '-', '--as', agents.a, '--json')
    expect(`${ran.out}${ran.err}`).not.toContain('HSTORE_BUG')
    expect((await store.run('verify', '--all')).exit).toBe(5)
  })
})

describe('a merge', () => {
  it('may have 256 parents', async () => {
    const store = await fresh()
    const names = Array.from({ length: 256 }, (_, i) => `P${i}`)
    const { store: folder, keys } = store
    const open = await openStore({ store: folder, keys, agent: agents.a })
    await Promise.all(names.map((name) => open.put(document(name))))
    await open.close()
    const merge = await put(store, document('M', { parents: names }))
    expect(merge.parents).toHaveLength(256)
    expect((await store.run('resume', merge.cid)).exit).toBe(0)
    const { heads } = json<{ heads: { stream: string }[] }>(await store.run('heads', '--json'))
    expect(heads.filter(({ stream }) => stream === 'csag:w')).toHaveLength(1)
    expect((await store.run('verify', '--all')).exit).toBe(0)
  })
})

describe('the folders of a store', () => {
  it('may have any name', async () => {
    const root = path.join(shared, 'a b\nö "%41 $HOME')
    const store = await makeTestStore(root)
    const file = await writeEnvelope(path.join(root, 'bündel #1'), {
      workspace: 'w',
      revision: 'R',
      author: agents.merger,
      files: { 'big.bin': bytesOf('big', 1_100_000) },
    })
    const cid = (await ok(store.run('put', file))).out.trim()
    expect((await store.run('resume', cid, '--out', path.join(root, 'out '))).exit).toBe(0)
    expect((await store.run('verify', '--all')).exit).toBe(0)
  })

  it('and of its keys are for their owner alone, whatever the umask', async () => {
    const before = process.umask(0)
    try {
      const store = await makeTestStore(path.join(shared, 'umask'))
      await put(store, document('R'))
      await ok(store.run('resume', 'csag:w'))
      const folders = [store.store, store.keys, path.join(store.keys, 'trust')]
      for (const folder of folders) expect((await stat(folder)).mode & 0o077).toBe(0)
      const secret = (await filesIn(store.keys)).filter((file) => !file.endsWith('.pub'))
      for (const file of secret) {
        expect({ file, mode: (await stat(file)).mode & 0o777 }).toEqual({ file, mode: 0o600 })
      }
    } finally {
      process.umask(before)
    }
  })

  it('open although a holder is named that does not hold it', async () => {
    const store = await fresh()
    await writeFile(path.join(store.store, 'holder'), `${process.ppid}\n`)
    await ok(store.run('heads', '--wait', '0'))
    await writeFile(path.join(store.store, 'holder'), 'nonsense')
    await ok(store.run('heads', '--wait', '0'))
  })
})

describe('a bundle', () => {
  it('is not laid out where a file is', async () => {
    const store = await fresh()
    const { cid } = await put(store, document('R'))
    const file = path.join(store.root, 'file')
    await writeFile(file, 'mine')
    for (const out of [file, path.join(file, 'below')]) {
      const ran = await store.run('get', cid, '--out', out, '--json')
      expect([2, 8]).toContain(ran.exit)
      expect(ran.err).not.toContain('HSTORE_BUG')
    }
    expect(await readFile(file, 'utf8')).toBe('mine')
  })
})

describe('the library', () => {
  it('keeps what it acknowledged when it is closed at once', async () => {
    const store = await fresh()
    const { store: folder, keys } = store
    const open = await openStore({ store: folder, keys, agent: agents.a })
    await open.heads()
    const puts = Array.from({ length: 10 }, (_, i) => open.put(document(`R${i}`)))
    const settled = Promise.allSettled(puts)
    await open.close()
    const kept = (await settled).flatMap((one) =>
      one.status === 'fulfilled' ? [one.value.cid] : [],
    )
    await open.close()
    for (const cid of kept) expect((await store.run('get', cid, '--wait', '0')).exit).toBe(0)
    expect((await store.run('verify', '--all', '--wait', '0')).exit).not.toBe(5)
  })
})

describe('the bytes that are given', () => {
  it.each([
    ['a Buffer', (text: string) => Buffer.from(text)],
    ['a Buffer of a file that is its own body', (text: string) => Buffer.from(text.trim())],
    ['a Uint8Array', (text: string) => new TextEncoder().encode(text.trim())],
  ])('are those of the call, whatever becomes of %s', async (_, make) => {
    const store = await fresh()
    const { store: folder, keys } = store
    await using open = await openStore({ store: folder, keys, agent: agents.a })
    const text = (revision: string): string => ` ${encodeFormText(document(revision) as never)}`
    for (const revision of ['R1', 'R2']) {
      const bytes = make(text(revision))
      const put = open.put(bytes)
      bytes.fill(0x20)
      const { cid } = await put
      expect(await open.get(cid)).toMatchObject({ document: document(revision) })
      expect((await open.verify([cid])).findings).toStrictEqual([])
    }
  })
})
