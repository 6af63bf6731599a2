import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { launcher } from '../support/cli.ts'
import { historyBundle } from '../support/history.ts'
import type { TestStore } from '../support/store.ts'
import { agents, makeSharedFolder, makeTestStore } from '../support/store.ts'

const shared = await makeSharedFolder()
let store: TestStore

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'store'))
})

const file = (name: string): string => path.join(historyBundle, name)

/** Runs a line of bash in which `hstore` is the launcher. */
async function bash(line: string): Promise<{ exit: unknown; out: string; err: string }> {
  const script = `hstore() { "${process.execPath}" "${launcher}" "$@"; }\n${line}`
  const env = { PATH: process.env['PATH'], ...store.env }
  return new Promise((resolve) => {
    execFile('bash', ['-c', script], { cwd: historyBundle, env }, (error, out, err) =>
      resolve({ exit: error?.code ?? 0, out, err }),
    )
  })
}

describe('hstore put of several files', () => {
  const put = (...words: string[]) => store.run('put', ...words, '--as', agents.a)

  it('says which one failed and how many were not tried', async () => {
    const ran = await put(file('r0003.json'), file('r0001.json'), 'c.json')
    expect(ran).toMatchObject({ exit: 4, out: '' })
    expect(ran.err).toMatch(
      /^hstore: \S*r0003\.json: created_by is .*; the 2 files behind it were not tried\n$/,
    )
    const two = await put('none.json', file('r0001.json'))
    expect(two.err).toBe(
      'hstore: none.json: there is no such file or folder; the file behind it was not tried\n',
    )
  })

  it('says so in JSON', async () => {
    const ran = await put(file('r0003.json'), 'b.json', 'c.json', '--json')
    const told = { code: 'HSTORE_AUTHOR_MISMATCH', path: file('r0003.json') }
    expect(JSON.parse(ran.err)).toMatchObject({ ...told, notTried: ['b.json', 'c.json'] })
  })

  it('names a file that is no envelope', async () => {
    await writeFile(path.join(shared, 'bad.json'), '{')
    const { err } = await put(path.join(shared, 'bad.json'))
    expect(err).toMatch(/^hstore: \S*bad\.json: refused by CSAG-L-001: handoff: not JSON/)
  })

  it('does not lay a fault of the store or the agent to a file', async () => {
    const { err } = await store.run('put', file('r0001.json'), 'b', '--as', 'csag:agent/nobody')
    expect(err).toMatch(
      /^hstore: csag:agent\/nobody has no key .*; the file behind it was not tried\n$/,
    )
  })
})

describe('hstore validate of what is neither file nor REF', () => {
  it.each([
    ['csag:nosuch', 'is neither a file nor a REF here'],
    [
      'baguqeeradoundnidoavsldi6u5i2npypdcsmgwym42uv5llabsc4t3jfhoaq',
      'is neither a file nor a REF here',
    ],
    ['nosuch.json', 'there is no such file'],
  ])('%s', async (target, said) => {
    const { exit, out } = await store.run('validate', target)
    expect({ exit, out }).toEqual({ exit: 1, out: `handoff: ${target}: ${said}\n` })
  })
})

describe('hstore validate --report-out -', () => {
  it('is refused, since it names no file', async () => {
    const ran = await store.run('validate', file('r0001.json'), '--report-out', '-')
    expect([ran.exit, ran.out, ran.err.split('\n').length]).toEqual([2, '', 2])
  })
})

describe('what the caller has opened', () => {
  it.each([
    'hstore validate <(cat r0001.json)',
    'hstore validate /dev/fd/9 9< r0001.json',
    'cat r0001.json | hstore validate /dev/stdin',
    `hstore put --as ${agents.a} <(cat r0001.json)`,
    'hstore validate /proc/self/fd/9 9< <(cat r0001.json)',
    'hstore key new csag:agent/fd --passphrase-file <(echo secret)',
    'hstore key export csag:agent/fd --secret --passphrase-file - <<< secret',
    'hstore key export csag:agent/fd --secret --passphrase-file /dev/stdin <<< secret',
    'hstore key import csag:agent/other <(hstore key export csag:agent/fd --secret --passphrase-file <(echo secret)) --no-passphrase',
  ])('%s', async (line) => {
    expect(await bash(line)).toMatchObject({
      exit: 0,
      err: expect.not.stringContaining('hstore: '),
    })
  })

  it('is bounded', async () => {
    const { exit, err } = await bash('hstore key new csag:agent/z --passphrase-file <(yes)')
    expect(exit).toBe(2)
    expect(err).toContain('is more than 65536 bytes')
  })

  it('is no named pipe by another path, and no descriptor that nobody opened', async () => {
    const pipe = path.join(shared, 'pipe')
    const named = await bash(`mkfifo ${pipe}; hstore put ${pipe}`)
    expect(named).toMatchObject({ exit: 2, err: `hstore: ${pipe}: is no regular file\n` })
    expect(await bash('hstore put /dev/fd/200')).toMatchObject({
      exit: 2,
      err: 'hstore: /dev/fd/200: there is no such file or folder\n',
    })
  })

  it('gives standard input to one place only', async () => {
    await bash('hstore key new csag:agent/twice --passphrase-file <(echo secret)')
    const line = 'hstore put - --as csag:agent/twice --passphrase-file - < r0001.json'
    const { exit, out, err } = await bash(line)
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    expect(err).toContain('standard input can be read once')
  })
})

describe('what the system refuses is told in words', () => {
  const absent = 'there is no such file or folder'
  const inFile = 'a file stands where a folder is wanted: name another path'
  const noKeys = 'is no folder: --keys and HSTORE_KEYS name the folder of keys'
  it.each([
    ['key new csag:agent/n --passphrase-file NONE', 2, `passphrase file NONE: ${absent}`],
    ['key new csag:agent/n --passphrase-file EMPTY', 2, 'the passphrase in it is empty'],
    ['put FILE/x', 2, inFile],
    ['init --as csag:agent/a --no-passphrase --store FILE', 8, inFile],
    ['heads --keys FILE', 2, noKeys],
    ['key list --keys FILE', 2, noKeys],
    ['key list --keys FILE/x', 4, inFile],
    ['heads --genesis x', 2, '"x" is no CID: --genesis takes a whole one'],
  ])('hstore %s', async (words, wanted, said) => {
    const names = new Map([
      ['NONE', 'none'],
      ['EMPTY', 'empty'],
      ['FILE', 'file'],
    ])
    await mkdir(shared, { recursive: true })
    await writeFile(path.join(shared, 'empty'), '\n')
    await writeFile(path.join(shared, 'file'), 'x')
    const filled = (text: string): string =>
      text.replaceAll(/NONE|EMPTY|FILE/g, (word) => path.join(shared, names.get(word)!))
    const { exit, out, err } = await store.run(...words.split(' ').map(filled))
    expect({ exit, out }).toEqual({ exit: wanted, out: '' })
    expect(err).toContain(filled(said))
    expect(err).not.toMatch(/\bE[A-Z]{3,}\b/)
  })

  it('where a bundle is laid out', async () => {
    const cid = (await bash(`hstore put r0001.json --as ${agents.a}`)).out.trim()
    const { exit, err } = await store.run('get', cid, '--out', file('r0001.json'))
    expect(exit).toBe(8)
    expect(err).toBe(`hstore: ${file('r0001.json')} can't be written: ${inFile}\n`)
  })
})
