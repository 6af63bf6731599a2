import { cp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Ran } from '../support/cli.ts'
import { runProcess } from '../support/cli.ts'
import type { TestStore } from '../support/store.ts'
import { json, ok, storeAt } from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'
import { appended, archiveRun, draftBy, freshRelay } from '../src/turns/relays.ts'

const example = fileURLToPath(new URL('../../fixtures/turns/example', import.meta.url))

/** Returns a store of alpha in a folder with the relay of the worked example. */
async function makeStore(): Promise<TestStore> {
  const store = storeAt(await makeTempFolder(), '')
  for (const name of ['M8SHIFT.md', 'M8SHIFT.archive.md']) {
    await cp(`${example}/${name}`, `${store.root}/${name}`)
  }
  await ok(store.run('init', '--as', 'alpha', '--no-passphrase'))
  return store
}

const importing = (store: TestStore, ...argv: string[]): Promise<Ran> =>
  store.run('turn', 'import', 'M8SHIFT.md', '--relay', 'demo', ...argv)
const exporting = (store: TestStore, ...argv: string[]): Promise<Ran> =>
  store.run('turn', 'export', '--relay', 'demo', ...argv)
const edit = async (store: TestStore, change: (text: string) => string): Promise<void> => {
  const file = `${store.root}/M8SHIFT.md`
  await writeFile(file, change(await readFile(file, 'utf8')))
}

describe('hstore turn import', () => {
  it('tells what it did, and that there was nothing to do', async () => {
    const store = await makeStore()
    const first = json(await ok(importing(store, '--json')))
    expect(first).toMatchObject({
      schema: 'hstore.turn-import/1',
      relay: 'demo',
      stream: 'm8:demo',
      turns: 6,
      added: 6,
      witnessed: 4,
      archived: 0,
      folded: 0,
      new: true,
      findings: [{ code: 'HS4302' }],
      warnings: [],
    })
    const again = await ok(importing(store))
    expect(again.out).toBe(`${String(first['cid'])}\n`)
    expect(again.err).toContain('nothing new')
    expect((await store.run('verify')).exit).toBe(0)
  })

  it('speaks for the agents that the roster gives the acting one, and for no others', async () => {
    const store = await makeStore()
    await ok(importing(store))
    const { findings } = json<{ findings: { code: string; message: string }[] }>(
      await store.run('verify', '--json'),
    )
    expect(findings.map(({ code }) => code)).toEqual([...Array<string>(4).fill('HS3015'), 'HS4318'])
    expect(findings.some(({ message }) => message.includes('that alpha made'))).toBe(false)
  })

  it('shows what was done to a closed turn, and takes nothing in', async () => {
    const store = await makeStore()
    await ok(importing(store))
    const before = (await exporting(store)).out
    await edit(store, (text) => text.replace('sent the sheets', 'sent\u001b[31m no sheets'))
    const ran = await importing(store)
    expect(ran.exit).toBe(6)
    expect(ran.err).toContain('\n+- done:    sent\\x1b[31m no sheets\n')
    expect(ran.err).toMatch(/^-- done: {4}sent the sheets\n/)
    expect(ran.err).toMatch(/turn 5 of beta \(baguq\w+\) was rewritten/)
    const error = JSON.parse((await importing(store, '--json')).err) as object
    expect(error).toMatchObject({
      code: 'HSTORE_RELAY_CHANGED',
      change: 'rewritten',
      number: '5',
      diff: ['-- done:    sent the sheets', '+- done:    sent\u001b[31m no sheets'],
    })
    expect((await exporting(store)).out).toBe(before)
  })

  it('wants the archive of the import before', async () => {
    const store = await makeStore()
    await ok(importing(store))
    const living = await readFile(`${store.root}/M8SHIFT.md`)
    const ran = await store.runWith(
      { stdin: living, cwd: '/' },
      'turn',
      'import',
      '-',
      '--relay',
      'demo',
    )
    expect(ran.exit).toBe(2)
    expect(ran.err).toContain('--archive')
  })

  it('knows an archive run of M8Shift', async () => {
    const store = await makeStore()
    let relay = appended(freshRelay, draftBy('alpha', { body: 'a\n\n\n\nb' }))
    relay = appended(relay, draftBy('beta', { body: 'c\n\n\n\nd' }))
    const write = async (files: { relay: string; archive: string }): Promise<void> => {
      await writeFile(`${store.root}/M8SHIFT.md`, files.relay)
      await writeFile(`${store.root}/M8SHIFT.archive.md`, files.archive)
    }
    await write({ relay, archive: '' })
    await ok(importing(store))
    await write(archiveRun(relay, '', 1))
    const report = json(await ok(importing(store, '--json')))
    expect(report).toMatchObject({ added: 0, archived: 1, folded: 1, new: true })
  })

  it('takes in a relay that M8Shift refuses, and says so', async () => {
    const store = await makeStore()
    await edit(store, (text) => text.replace('state:', 'stage:'))
    const ran = await ok(importing(store))
    expect(ran.err).toContain('warning: M8Shift refuses the relay')
  })

  it('refuses what no block holds', async () => {
    const store = await makeStore()
    await edit(store, (text) => text.replace('sent the sheets', 'x'.repeat(2 * 1024 * 1024)))
    const turn = await importing(store)
    expect([turn.exit, turn.err]).toEqual([
      2,
      expect.stringMatching(/M8SHIFT.md line 54: turn 5 of beta is more than the 2 MiB/),
    ])
    await cp(`${example}/M8SHIFT.md`, `${store.root}/M8SHIFT.md`)
    await edit(store, (text) => text + 'x'.repeat(2 * 1024 * 1024))
    expect((await importing(store)).err).toMatch(
      /M8SHIFT.md line \d+: what stands in no turn is more than the 2 MiB/,
    )
    expect((await exporting(store)).exit).toBe(2)
    await cp(`${example}/M8SHIFT.md`, `${store.root}/M8SHIFT.md`)
    await ok(importing(store))
    await edit(store, (text) => text + 'x'.repeat(2 * 1024 * 1024))
    const loose = JSON.parse((await importing(store, '--json')).err) as object
    expect(loose).toMatchObject({
      code: 'HSTORE_INPUT_TOO_LARGE',
      message: expect.stringMatching(/M8SHIFT.md line \d+: what stands in no turn/) as string,
    })
  })

  it.each([
    [['M8SHIFT.md'], 2],
    [['M8SHIFT.md', '--relay', ''], 2],
    [['M8SHIFT.md', '--relay', 'a\u0007b'], 2],
    [['none.md', '--relay', 'demo'], 1],
    [['M8SHIFT.md', '--relay', 'demo', '--archive', 'none.md'], 1],
    [['M8SHIFT.md', '--relay', 'demo', '--as', 'nobody'], 4],
  ])('%j ends with %i', async (argv, exit) => {
    const store = await makeStore()
    const ran = await store.run('turn', 'import', ...argv)
    expect([ran.exit, ran.err.split('\n').length]).toEqual([exit, 2])
  })

  it('is whole or not there when it is killed', async () => {
    const store = await makeStore()
    let relay = freshRelay
    for (let i = 0; i < 300; i++) relay = appended(relay, draftBy(i % 2 ? 'beta' : 'alpha'))
    await writeFile(`${store.root}/big.md`, relay)
    const run = (timeoutMs?: number): Promise<Ran> =>
      runProcess(['turn', 'import', 'big.md', '--relay', 'big', '--json'], {
        cwd: store.root,
        env: store.env,
        ...(timeoutMs !== undefined && { timeoutMs }),
      })
    await ok(importing(store))
    for (const timeoutMs of [150, 250, 350, 450, 600]) {
      await run(timeoutMs)
      const shown = await store.run('turn', 'export', '--relay', 'big')
      if (shown.exit === 0) expect(shown.out).toBe(relay)
      else expect(shown.err).toContain('no relay of that name')
    }
    const last = json(await ok(run()))
    expect(last['turns']).toBe(301)
    expect([0, 301]).toContain(last['added'])
    expect((await store.run('log', 'm8:big')).out.split('\n')).toHaveLength(302)
    expect((await store.run('fsck')).exit).toBe(0)
  })
})

describe('hstore turn export', () => {
  it('writes new files, and over none', async () => {
    const store = await makeStore()
    await ok(importing(store))
    const plain = await ok(exporting(store))
    expect(plain.out).toBe(await readFile(`${example}/M8SHIFT.md`, 'utf8'))
    expect(plain.err).toContain('--archive FILE writes it')
    const written = json(await ok(exporting(store, '--out', 'a.md', '--archive', 'b.md', '--json')))
    expect(written).toMatchObject({ relay: 'demo', out: 'a.md', archive: 'b.md' })
    expect(await readFile(`${store.root}/b.md`)).toEqual(
      await readFile(`${example}/M8SHIFT.archive.md`),
    )
    // what a call that was killed between the two has written is done
    await rm(`${store.root}/a.md`)
    await writeFile(`${store.root}/a.md.4194303.abc.tmp`, 'half')
    await utimes(`${store.root}/a.md.4194303.abc.tmp`, 0, Date.now() / 1000 - 100)
    await ok(exporting(store, '--out', 'a.md', '--archive', 'b.md'))
    await ok(exporting(store, '--out', 'a.md', '--archive', 'b.md'))
    expect(await readFile(`${store.root}/a.md`, 'utf8')).toBe(plain.out)
    await writeFile(`${store.root}/a.md`, 'other')
    const again = await exporting(store, '--out', 'a.md', '--archive', 'c.md')
    expect([again.exit, again.err]).toEqual([2, expect.stringContaining('is there already')])
    const nowhere = await exporting(store, '--out', 'none/a.md')
    expect(nowhere.exit).toBe(8)
    expect((await readdir(store.root)).filter((name) => /tmp$|^c/.test(name))).toEqual([])
  })

  it.each([
    [['--relay', 'other'], 2],
    [[], 2],
    [['--relay', 'demo', '--json'], 2],
  ])('%j ends with %i', async (argv, exit) => {
    const store = await makeStore()
    await ok(importing(store))
    expect((await store.run('turn', 'export', ...argv)).exit).toBe(exit)
  })

  it('has no archive to write where there was none', async () => {
    const store = await makeStore()
    await writeFile(`${store.root}/M8SHIFT.archive.md`, '')
    await ok(importing(store))
    expect((await exporting(store, '--archive', 'a.md')).exit).toBe(2)
  })
})

describe('hstore turn log and validate --relay', () => {
  it('print a line a turn, and the verdict of the files', async () => {
    const store = await makeStore()
    await ok(importing(store))
    const { out } = await ok(store.run('turn', 'log', '--relay', 'demo', '-n', '1'))
    expect(out).toMatch(/^baguq\w+ 5 beta -> alpha \(witness\)\n$/)
    const ofStore = await store.run('turn', 'validate', '--relay', 'demo', '--all', '--strict')
    const ofFiles = await store.run('turn', 'validate', '--all', '--strict')
    expect([ofStore.exit, ofStore.out]).toEqual([1, ofFiles.out])
    expect(json(await ok(store.run('turn', 'log', '--relay', 'demo', '--json')))).toMatchObject({
      schema: 'hstore.turn-log/1',
      relay: 'demo',
    })
  })

  it('show a number of any length in a line', async () => {
    const store = await makeStore()
    await edit(store, (text) => text.replaceAll('TURN 5 beta', `TURN ${'5'.repeat(5000)} beta`))
    await ok(importing(store))
    const { out } = await ok(store.run('turn', 'log', '--relay', 'demo', '-n', '1'))
    expect([out.length < 400, out]).toEqual([true, expect.stringContaining(' 555555')])
  })

  it.each([
    [['log'], 2],
    [['log', '--relay', 'other'], 2],
    [['log', '--relay', 'demo', '-n', '0'], 2],
    [['validate', 'M8SHIFT.md', '--relay', 'demo'], 2],
    [['validate', '--relay', 'other'], 2],
  ])('%j ends with %i', async (argv, exit) => {
    const store = await makeStore()
    await ok(importing(store))
    expect((await store.run('turn', ...argv)).exit).toBe(exit)
  })
})
