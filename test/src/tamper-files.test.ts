import { execFileSync } from 'node:child_process'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { runProcess } from '../support/cli.ts'
import { bytesOf, envelopeOf, writeEnvelope } from '../support/envelope.ts'
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
  withLevel,
} from '../support/store.ts'

const shared = await makeSharedFolder()
let ground: TestStore
let entry = ''
let copies = 0

beforeAll(async () => {
  ground = await makeTestStore(path.join(shared, 'ground'))
  const file = await writeEnvelope(path.join(shared, 'bundle'), {
    workspace: 'w',
    revision: 'R',
    author: agents.merger,
    files: { 'big.bin': bytesOf('big', 1_200_000), 'small.txt': 'small' },
  })
  entry = (await ok(ground.run('put', file))).out.trim()
})

const copy = (): Promise<TestStore> => copyStore(ground, path.join(shared, `copy-${copies++}`))

async function largeOf({ store }: TestStore): Promise<string> {
  const [file = ''] = await filesIn(path.join(store, 'artifacts'))
  return file
}

describe('a large artifact whose place holds something else', () => {
  const places: readonly (readonly [what: string, make: (file: string) => Promise<void>])[] = [
    ['a folder', (file) => mkdir(file)],
    ['a pipe', async (file) => void execFileSync('mkfifo', [file])],
    ['a link to endless bytes', (file) => symlink('/dev/zero', file)],
    ['a link to nothing', (file) => symlink('/nonexistent', file)],
    ['a link to itself', (file) => symlink(file, file)],
    ['an empty file', (file) => writeFile(file, '')],
  ]
  for (const [what, make] of places) {
    it(`ends with 5 and its CID: ${what}`, async () => {
      const broken = await copy()
      const file = await largeOf(broken)
      await rm(file)
      await make(file)
      for (const argv of [
        ['verify', '--all'],
        ['resume', entry],
      ]) {
        const options = { env: broken.env, cwd: broken.root, timeoutMs: 15_000 }
        const ran = await runProcess(argv, options)
        expect({ argv, exit: ran.exit, signal: ran.signal }).toEqual({
          argv,
          exit: 5,
          signal: null,
        })
        expect(`${ran.out}${ran.err}`).toContain(path.basename(file))
      }
    })
  }

  it('is made whole by the same put from a sound bundle', async () => {
    const broken = await copy()
    const file = await largeOf(broken)
    await rm(file)
    await ok(broken.run('put', path.join(shared, 'bundle', 'R.json')))
    expect((await broken.run('verify', '--all')).exit).toBe(0)
  })
})

describe('files that no put has made', () => {
  it('are named by verify --all where they claim to be artifacts', async () => {
    const broken = await copy()
    const folder = path.dirname(await largeOf(broken))
    await writeFile(path.join(folder, 'README'), 'no artifact')
    const ran = await broken.run('verify', '--all')
    expect(ran).toMatchObject({ exit: 5 })
    expect(ran.out).toContain('README')
  })

  it('do not stand for a small artifact of the database', async () => {
    const broken = await copy()
    const { blocks } = await readRaw(broken)
    const small = [...blocks].find(([, bytes]) => Buffer.from(bytes).toString() === 'small')![0]
    const folder = path.join(broken.store, 'artifacts', small.slice(-3, -1))
    await mkdir(folder, { recursive: true })
    await writeFile(path.join(folder, small), 'other')
    expect((await ok(broken.run('get', small))).out).toBe('small')
    expect((await broken.run('resume', entry)).exit).toBe(0)
    const verified = await broken.run('verify', '--all')
    expect(verified.out).toContain(small)
  })

  it('in tmp are no part of the store', async () => {
    const broken = await copy()
    await writeFile(path.join(broken.store, 'tmp', 'left-over'), 'half')
    expect((await broken.run('verify', '--all')).exit).toBe(0)
  })
})

describe('put on a damaged store', () => {
  const child = JSON.stringify(
    envelopeOf({ workspace: 'w', revision: 'R2', author: agents.merger, parents: ['R'] }),
  )

  it('follows no entry that is damaged or gone, and names it', async () => {
    for (const bytes of [undefined, Buffer.from('{}')]) {
      const broken = await copy()
      await withLevel(broken.store, async (level) =>
        bytes === undefined ? level.del(`!blocks!${entry}`) : level.put(`!blocks!${entry}`, bytes),
      )
      const ran = await broken.runWith({ stdin: child }, 'put', '-', '--json')
      expect(ran.exit).toBe(5)
      expect(ran.err).toContain(entry)
      expect((await broken.run('verify', '--all')).exit).toBe(5)
    }
  })

  it('of a body does not help a put that rests on it', async () => {
    const broken = await copy()
    const { blocks } = await readRaw(broken)
    const { body } = payloadIn(blocks.get(entry)!)!
    await withLevel(broken.store, (level) => level.del(`!blocks!${body['/']}`))
    const next = await broken.runWith({ stdin: child }, 'put', '-', '--json')
    if (next.exit === 0) {
      const { cid } = json<{ cid: string }>(next)
      expect((await broken.run('resume', cid, '--json')).out).toContain('"verdict":"unsafe"')
    } else expect(next.exit).toBe(5)
    expect((await broken.run('verify', '--all')).exit).toBe(5)
  })
})
