import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import { launcher } from '../support/cli.ts'
import { envelopeOf } from '../support/envelope.ts'
import type { TestStore } from '../support/store.ts'
import { agents, copyStore, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'

const shared = await makeSharedFolder()
const author = agents.merger
const empty = await makeTestStore(path.join(shared, 'empty'))
let store: TestStore
let made = 0

beforeEach(async () => {
  made += 1
  store = await copyStore(empty, path.join(shared, `store-${made}`))
})

/** A revision that follows the one before it. */
function revision(i: number): object {
  const parents = i === 0 ? [] : [`R${i - 1}`]
  return envelopeOf({ workspace: 'w', revision: `R${i}`, author, parents })
}

async function writeLines(name: string, text: string): Promise<string> {
  const file = path.join(store.root, name)
  await writeFile(file, text)
  return file
}

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, i) => `${JSON.stringify(revision(from + i))}\n`).join('')

const put = (...words: string[]) => store.run('put', ...words, '--as', author)

async function revisionsIn(): Promise<string[]> {
  await using open = await openStore({ store: store.store, keys: store.keys, agent: author })
  const heads = (await open.heads()).filter(({ stream }) => stream === 'csag:w')
  if (heads.length === 0) return []
  return (await open.log('csag:w'))
    .map(({ entry }) => (entry.name ?? '').split('/').at(-1) ?? '')
    .toReversed()
}

describe('hstore put of many', () => {
  it('puts files that follow each other in one go, each printed in its turn', async () => {
    const files = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        writeLines(`${String(i)}.json`, JSON.stringify(revision(i))),
      ),
    )
    const { out } = await put(...files)
    const printed = out.trim().split('\n')
    expect(new Set(printed).size).toBe(300)
    expect(await revisionsIn()).toEqual(Array.from({ length: 300 }, (_, i) => `R${i}`))
    expect((await store.run('get', printed[7]!)).out).toContain('/R7"')
  })

  it('keeps and prints what came before the first that fails, and nothing behind it', async () => {
    const odd = `${JSON.stringify(envelopeOf({ workspace: 'w', revision: 'X', author: agents.a }))}\n`
    const file = await writeLines('some.ndjson', lines(0, 5) + odd + lines(5, 9))
    const ran = await put('--batch', file)
    expect(ran.exit).toBe(4)
    expect(ran.out.trim().split('\n')).toHaveLength(5)
    expect(ran.err).toMatch(/^hstore: \S*some\.ndjson:6: created_by is .*\n$/)
    expect(await revisionsIn()).toEqual(['R0', 'R1', 'R2', 'R3', 'R4'])
  })

  it('the lines again are there already, and the rest goes on', async () => {
    const first = await put('--batch', await writeLines('first.ndjson', lines(0, 3)))
    const all = await put('--batch', await writeLines('all.ndjson', lines(0, 5)))
    expect(all.out.startsWith(first.out)).toBe(true)
    expect(all.err.match(/all\.ndjson:\d was there already/g)).toEqual(
      [1, 2, 3].map((line) => `all.ndjson:${line} was there already`),
    )
  })

  it.each([
    ['ends of Windows', (text: string) => text.replaceAll('\n', '\r\n')],
    ['no last end', (text: string) => text.trimEnd()],
    ['blank lines', (text: string) => `\n \t\n${text.replaceAll('\n', '\n\n')}`],
  ])('takes lines with %s', async (_, change) => {
    await ok(put('--batch', await writeLines('odd.ndjson', change(lines(0, 3)))))
    expect(await revisionsIn()).toEqual(['R0', 'R1', 'R2'])
  })

  it.each([
    ['nothing', ''],
    ['blank lines alone', '\n\n  \n'],
  ])('says that a batch holds %s', async (_, text) => {
    const ran = await put('--batch', await writeLines('none.ndjson', text))
    expect(ran).toMatchObject({ exit: 2, out: '' })
    expect(ran.err).toMatch(/^hstore: \S*none\.ndjson: has no line with an envelope\n$/)
  })

  it('refuses a line that never ends, with what came before it stored', async () => {
    const file = await writeLines('long.ndjson', `${lines(0, 2)}{"a":"${'x'.repeat(5_000_000)}`)
    const ran = await put('--batch', file)
    expect(ran.exit).toBe(2)
    expect(ran.err).toMatch(/^hstore: \S*long\.ndjson:3: the line is more than 4194304 bytes/)
    expect(await revisionsIn()).toEqual(['R0', 'R1'])
  })

  it('refuses a bundle that is none, also where no envelope asks for it', async () => {
    const file = await writeLines('few.ndjson', lines(0, 2))
    const ran = await put('--batch', file, '--bundle', 'nowhere')
    expect(ran).toMatchObject({ exit: 2, out: '' })
    expect(ran.err).toMatch(/nowhere: can't be opened as the directory of a bundle/)
  })

  it('names a file that is not there', async () => {
    const ran = await put('--batch', 'nowhere.ndjson')
    expect(ran).toMatchObject({ exit: 2, out: '' })
    expect(ran.err).toBe('hstore: nowhere.ndjson: there is no such file or folder\n')
  })

  it('prints what is stored while it waits for the next line', async () => {
    const child = spawn(process.execPath, [launcher, 'put', '--batch', '-', '--as', author], {
      cwd: store.root,
      env: { ...process.env, ...store.env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const ended = once(child, 'close')
    const printed: string[] = []
    for (const i of [0, 1, 2]) {
      child.stdin.write(lines(i, i + 1))
      printed.push(String((await once(child.stdout, 'data'))[0]).trim())
    }
    child.stdin.end()
    expect(await ended).toEqual([0, null])
    expect(printed.every((cid) => cid.length === 61)).toBe(true)
    expect(await revisionsIn()).toEqual(['R0', 'R1', 'R2'])
  })

  it('what is printed is stored, wherever a kill falls', async () => {
    const file = await writeLines('many.ndjson', lines(0, 400))
    const out = path.join(store.root, 'out')
    for (const wait of [150, 300, 450, 700]) {
      const child = spawn(
        'bash',
        ['-c', 'exec "$0" "$@" > "$OUT"', process.execPath, launcher, 'put', '--batch', file],
        {
          cwd: store.root,
          env: { ...process.env, ...store.env, HSTORE_AGENT: author, OUT: out },
          stdio: 'ignore',
        },
      )
      const ended = once(child, 'close')
      setTimeout(() => child.kill('SIGKILL'), wait)
      await ended
      const printed = (await readFile(out, 'utf8')).split('\n').filter((cid) => cid.length === 61)
      for (const cid of printed.slice(-3))
        expect((await store.run('get', cid)).exit, `${cid} after ${wait} ms`).toBe(0)
      expect((await revisionsIn()).length).toBeGreaterThanOrEqual(printed.length)
    }
    await ok(put('--batch', file))
    expect(await revisionsIn()).toHaveLength(400)
  })
})

describe('putAll', () => {
  it('goes on with nothing once its caller has enough, and loses nothing of what it gave', async () => {
    const open = await openStore({ store: store.store, keys: store.keys, agent: author })
    let asked = 0
    const items = function* () {
      for (let i = 0; i < 1000; i++) {
        asked += 1
        yield { input: revision(i) }
      }
    }
    const given: string[] = []
    for await (const { cid } of open.putAll(items())) {
      given.push(cid)
      if (given.length === 3) break
    }
    await open.close()
    expect(asked).toBeLessThan(300)
    expect((await revisionsIn()).slice(0, 3)).toEqual(['R0', 'R1', 'R2'])
  })
})
