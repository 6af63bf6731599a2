import { readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { Ran } from '../support/cli.ts'
import type { TestStore } from '../support/store.ts'
import { json, ok, storeAt } from '../support/store.ts'
import { makeTempFolder } from '../support/temp-folder.ts'
import { appended, archiveRun, draftBy, freshRelay } from '../src/turns/relays.ts'

const relayOf = (turns: number, more = {}): string => {
  let relay = freshRelay
  for (let i = 0; i < turns; i++) {
    relay = appended(relay, draftBy(i % 2 === 0 ? 'alpha' : 'beta', { ask: `step ${i}`, ...more }))
  }
  return relay
}

/** Returns a store of alpha, with the files of a relay beside it. */
async function makeStore(relay: string, archive = ''): Promise<TestStore> {
  const store = storeAt(await makeTempFolder(), '')
  await ok(store.run('init', '--as', 'alpha', '--no-passphrase'))
  await write(store, relay, archive)
  return store
}

const fileOf = (store: TestStore): string => `${store.root}/M8SHIFT.md`
const archiveOf = (store: TestStore): string => `${store.root}/M8SHIFT.archive.md`

async function write(store: TestStore, relay: string, archive = ''): Promise<void> {
  await writeFile(fileOf(store), relay)
  if (archive !== '') await writeFile(archiveOf(store), archive)
}

const importing = (store: TestStore, ...argv: string[]): Promise<Ran> =>
  store.run('turn', 'import', 'M8SHIFT.md', '--relay', 'demo', ...argv)
const exporting = (store: TestStore, ...argv: string[]): Promise<Ran> =>
  store.run('turn', 'export', '--relay', 'demo', ...argv)
const appending = (store: TestStore, ...argv: string[]): Promise<Ran> =>
  store.run('turn', 'append', 'alpha', '--to', 'beta', '--relay', 'demo', ...argv)

interface Changed {
  readonly code: string
  readonly changes: readonly { readonly change: string; readonly number: string }[]
  readonly more: number
}
const changedBy = async (store: TestStore): Promise<Changed> => {
  const ran = await importing(store, '--json')
  expect(ran.exit).toBe(6)
  return JSON.parse(ran.err) as Changed
}
const told = ({ changes }: Changed): string[] =>
  changes.map(({ change, number }) => `${number} ${change}`)

describe('files that lost turns', () => {
  const files = archiveRun(relayOf(6), '', 2)

  it.each([
    ['an archive that is gone', (store: TestStore) => rm(archiveOf(store)), 4],
    ['an archive that was emptied', (store: TestStore) => writeFile(archiveOf(store), ''), 4],
    ['a relay that was emptied', (store: TestStore) => writeFile(fileOf(store), ''), 3],
  ])('end with 6 and show what is gone: %s', async (_, take, count) => {
    const store = await makeStore(files.relay, files.archive)
    await ok(importing(store))
    const before = (await exporting(store)).out
    await take(store)
    const ran = await importing(store)
    expect(ran.exit).toBe(6)
    expect(ran.err.match(/: removed$/gm)).toHaveLength(count)
    expect(ran.err).toContain('-- from:    alpha\n')
    expect(ran.err).not.toContain('\n+')
    expect((await appending(store, '--file', 'M8SHIFT.md')).exit).toBe(6)
    expect((await exporting(store)).out).toBe(before)
  })

  it('are no relay when they never had one', async () => {
    const store = await makeStore('')
    const ran = await importing(store)
    expect([ran.exit, ran.err]).toEqual([1, expect.stringContaining('is empty')])
  })

  it('want the archive where the relay has another name', async () => {
    const store = await makeStore(files.relay, files.archive)
    await ok(importing(store))
    await writeFile(`${store.root}/other.md`, files.relay)
    const ran = await store.run('turn', 'import', 'other.md', '--relay', 'demo')
    expect([ran.exit, ran.err]).toEqual([2, expect.stringContaining('--archive')])
  })

  it('may have had no archive, or one without turns', async () => {
    const store = await makeStore(relayOf(2))
    await writeFile(archiveOf(store), '')
    await ok(importing(store))
    await writeFile(archiveOf(store), '# M8Shift · turn archive\n')
    await ok(importing(store))
    await rm(archiveOf(store))
    expect(json(await ok(importing(store, '--json')))).toMatchObject({ added: 0, turns: 3 })
  })
})

describe('a relay in which several turns were changed', () => {
  it('shows each of them', async () => {
    const store = await makeStore(relayOf(6))
    await ok(importing(store))
    const changed = relayOf(6)
      .replace('step 1\n', 'stop 1\n')
      .replaceAll('TURN 4 beta', 'TURN 40 beta')
      .replace(/<!-- M8SHIFT:TURN 5 alpha[^]*5 alpha END -->\n\n/, '')
    await write(store, changed)
    expect(told(await changedBy(store))).toEqual(['2 rewritten', '4 renumbered', '5 removed'])
    const ran = await importing(store)
    expect(ran.err).toContain('-- ask:     step 1\n+- ask:     stop 1\n')
    expect(ran.err).toContain('(and 2 more changes)')
    expect(ran.err).toMatch(/M8SHIFT\.md: turn 5 of alpha \(baguq\w+\): removed\n-<!--/)
  })

  it('shows twenty, and how many more there are', async () => {
    const store = await makeStore(relayOf(30))
    await ok(importing(store))
    await write(store, relayOf(30).replaceAll('step', 'stop'))
    const { changes, more } = await changedBy(store)
    expect([changes.length, more]).toEqual([20, 10])
    expect((await importing(store)).err).toMatch(/\nand 10 more\nhstore: /)
  })

  it('tells what was put in, and what was moved', async () => {
    const store = await makeStore(relayOf(4))
    await ok(importing(store))
    const third = /<!-- M8SHIFT:TURN 3 alpha[^]*3 alpha END -->\n\n/.exec(relayOf(4))![0]
    await write(
      store,
      relayOf(4).replace(third, `${third.replaceAll('3 alpha', '9 beta')}${third}`),
    )
    expect(told(await changedBy(store))).toEqual(['9 inserted'])
    await write(store, `${relayOf(4).replace(third, '')}\n${third}`)
    expect(told(await changedBy(store))).toEqual(['3 reordered'])
  })

  it('calls the last of two that are alike removed', async () => {
    const twin = draftBy('alpha')
    const one = appended(freshRelay, twin).replace('turn:     1', 'turn:     0')
    const two = appended(one, twin)
    const store = await makeStore(two)
    expect(json(await ok(importing(store, '--json')))).toMatchObject({ turns: 3 })
    await write(store, one)
    expect(told(await changedBy(store))).toEqual(['1 removed'])
  })

  it('tells which way blank lines went', async () => {
    const folded = relayOf(1, { body: 'x\n\ny' })
    const spaced = relayOf(1, { body: 'x\n\n\n\ny' })
    for (const [before, after, counts, words] of [
      [spaced, folded, { folded: 1, respaced: 0 }, '1 with blank lines folded'],
      [folded, spaced, { folded: 0, respaced: 1 }, '1 with other blank lines'],
    ] as const) {
      const store = await makeStore(before)
      await ok(importing(store))
      await write(store, after)
      const ran = await ok(importing(store))
      expect(ran.err).toContain(words)
      await ok(exporting(store, '--out', 'back.md'))
      await write(store, appended(after, draftBy('beta')))
      expect(json(await ok(importing(store, '--json')))).toMatchObject(counts)
    }
  })
})

describe('an archive that is given for the first time later', () => {
  const files = archiveRun(relayOf(9), '', 3)
  const first = async (): Promise<TestStore> => {
    const store = await makeStore(files.relay)
    await ok(importing(store))
    return store
  }

  it('begins with older turns, which come first', async () => {
    const store = await first()
    await write(store, files.relay, files.archive)
    expect(json(await ok(importing(store, '--json')))).toMatchObject({ added: 6, archived: 0 })
    expect((await exporting(store)).out).toBe(files.relay)
    const { turns } = json<{ turns: { number: string; file: string }[] }>(
      await ok(store.run('turn', 'log', '--relay', 'demo', '--json')),
    )
    expect(turns.map(({ number }) => number).join()).toBe('9,8,7,0,6,5,4,3,2,1')
    expect((await store.run('resume', 'm8:demo')).out).toContain('head:    turn 9 of alpha')
    // from now on it is held to as all else
    await write(store, files.relay, files.archive.replace('step 3', 'stop 3'))
    expect(told(await changedBy(store))).toEqual(['4 rewritten'])
    await write(store, files.relay, files.archive)
    expect(json(await ok(importing(store, '--json')))).toMatchObject({ new: false })
  })

  it('may have had a run of archive meanwhile, and new turns in the relay', async () => {
    const store = await first()
    const more = archiveRun(appended(files.relay, draftBy('beta')), files.archive, 2)
    await write(store, more.relay, more.archive)
    expect(json(await ok(importing(store, '--json')))).toMatchObject({ added: 7, archived: 2 })
    const { findings } = json<{ findings: { code: string }[] }>(await store.run('verify', '--json'))
    expect(findings.filter(({ code }) => code.startsWith('HS43'))).toEqual([])
  })

  it('has no turns that are not older', async () => {
    const store = await first()
    const late = files.archive.replaceAll('TURN 6 beta', 'TURN 60 beta')
    await write(store, files.relay, late)
    const changed = await changedBy(store)
    expect(told(changed)[0]).toBe('1 inserted')
    expect(changed.changes.every(({ change }) => change === 'inserted')).toBe(true)
  })

  it('is told, for what no one has read', async () => {
    const store = await first()
    await write(store, files.relay, files.archive)
    const { err } = await ok(importing(store))
    expect(err).toContain('warning: M8SHIFT.archive.md begins with 6 turns')
    expect((await ok(importing(store))).err).not.toContain('warning: M8SHIFT.archive.md')
  })

  it('adds nothing to a relay that begins with turn 1', async () => {
    const store = await makeStore(relayOf(2))
    await ok(importing(store))
    const ninth = /<!-- M8SHIFT:TURN 1 alpha[^]*1 alpha END -->\n/
      .exec(relayOf(2))![0]
      .replaceAll('TURN 1 ', 'TURN 9 ')
    await write(store, relayOf(2), ninth)
    expect(told(await changedBy(store))).toEqual(['9 inserted'])
  })

  it('takes no turn 0, which M8Shift leaves in the relay', async () => {
    const store = await makeStore(relayOf(2))
    await ok(importing(store))
    const drained = archiveRun(relayOf(2), '', 0)
    const zero = relayOf(2).match(/<!-- M8SHIFT:TURN 0[^]*0 system END -->\n/)![0]
    await write(store, drained.relay, drained.archive + zero.replaceAll('0 system', '0 alpha'))
    expect(told(await changedBy(store))).toEqual(['0 inserted'])
    await write(store, drained.relay, drained.archive)
    await ok(importing(store))
    const late = await makeStore(archiveRun(relayOf(4), '', 2).relay)
    await ok(importing(late))
    await write(late, archiveRun(relayOf(4), '', 2).relay, zero.replaceAll('0 system', '0 alpha'))
    expect(told(await changedBy(late))).toContain('0 inserted')
  })
})

describe('a turn that was appended without the file', () => {
  const withPen = relayOf(2).replace(/^state:.*$/m, 'state:    AWAITING_ALPHA')

  it('is told as missing in the file, not as removed, until the file has it', async () => {
    const store = await makeStore(withPen)
    await ok(importing(store))
    await ok(appending(store, '--ask', 'alone'))
    for (const ran of [await importing(store), await appending(store, '--file', 'M8SHIFT.md')]) {
      expect(ran.exit).toBe(6)
      expect(ran.err).toMatch(/lacks turn 3 of alpha .*turn export --relay NAME --out FILE/)
      expect(ran.err).not.toContain('removed')
      expect(ran.err).toContain('-- ask:     alone\n')
    }
    expect(await changedBy(store)).toMatchObject({ code: 'HSTORE_RELAY_BEHIND' })
    await ok(exporting(store, '--out', 'new.md'))
    await write(store, await readFile(`${store.root}/new.md`, 'utf8'))
    expect(json(await ok(importing(store, '--json')))).toMatchObject({ added: 0, turns: 4 })
    expect((await ok(importing(store))).err).toContain('nothing new')
    // the file had it: it can be removed by now
    await write(store, withPen)
    expect(told(await changedBy(store))).toEqual(['3 removed'])
  })

  it('is told with what stands in its place', async () => {
    const store = await makeStore(withPen)
    await ok(importing(store))
    await ok(appending(store, '--ask', 'alone'))
    await write(store, appended(withPen, draftBy('beta')))
    const ran = await importing(store)
    expect([ran.exit, ran.err]).toEqual([
      6,
      expect.stringContaining('has turn 3 of beta in its place'),
    ])
    // the way that is named loses neither
    expect(ran.err).toContain('before turn 3 of beta, which must stay')
    await ok(exporting(store, '--out', 'new.md'))
    const [block] = /<!-- M8SHIFT:TURN 3 alpha[^]*3 alpha END -->\n\n?/.exec(
      await readFile(`${store.root}/new.md`, 'utf8'),
    )!
    const now = await readFile(fileOf(store), 'utf8')
    const other = '<!-- M8SHIFT:TURN 3 beta BEGIN'
    await write(
      store,
      now.replace(other, () => `${block}\n${other}`),
    )
    expect(json(await ok(importing(store, '--json')))).toMatchObject({ added: 1, turns: 5 })
    const { out } = await ok(store.run('turn', 'log', '--relay', 'demo'))
    expect([out.includes(' 3 alpha '), out.includes(' 3 beta ')]).toEqual([true, true])
  })

  it('is told beside what was changed', async () => {
    const store = await makeStore(withPen)
    await ok(importing(store))
    await ok(appending(store, '--ask', 'alone'))
    await write(store, withPen.replace('step 1', 'stop 1'))
    expect(told(await changedBy(store))).toContain('2 rewritten')
  })
})

describe('a turn that was begun, and got its END by hand later', () => {
  const whole = relayOf(5)
  const end = '<!-- M8SHIFT:TURN 3 alpha END -->\n'
  const lacking = whole.replace(end, '')

  const begun = async (text: string): Promise<TestStore> => {
    const store = await makeStore(text)
    expect((await ok(importing(store))).err).toContain('HS4302')
    return store
  }

  it('is new, in its place, and held to from then on', async () => {
    const store = await begun(lacking)
    await write(store, whole)
    expect(json(await ok(importing(store, '--json')))).toMatchObject({ added: 1, turns: 6 })
    expect((await exporting(store)).out).toBe(whole)
    const { turns } = json<{ turns: { number: string }[] }>(
      await ok(store.run('turn', 'log', '--relay', 'demo', '--json')),
    )
    expect(turns.map(({ number }) => number).join()).toBe('5,4,3,2,1,0')
    expect((await store.run('resume', 'm8:demo')).out).toContain('head:    turn 5 of alpha')
    const { findings } = json<{ findings: { code: string }[] }>(await store.run('verify', '--json'))
    expect(findings.filter(({ code }) => code.startsWith('HS43'))).toEqual([])
    expect((await ok(importing(store))).err).toContain('nothing new')
    await write(store, whole.replace('step 2', 'stop 2'))
    expect(told(await changedBy(store))).toEqual(['3 rewritten'])
    await write(store, lacking)
    expect(told(await changedBy(store))).toEqual(['3 removed'])
  })

  it('is new with others, and after a run of archive', async () => {
    const store = await begun(lacking)
    const more = archiveRun(appended(whole, draftBy('beta')), '', 2)
    await write(store, more.relay, more.archive)
    expect(json(await ok(importing(store, '--json')))).toMatchObject({ added: 2, archived: 3 })
    expect((await exporting(store)).out).toBe(more.relay)
    expect((await ok(importing(store))).err).toContain('nothing new')
  })

  it.each([
    ['it says something else', whole.replace('step 2', 'stop 2'), '3 inserted'],
    ['another was changed beside it', whole.replace('step 3', 'stop 3'), '4 rewritten'],
    ['another number closes it', lacking.replace(/^.*TURN 3 alpha BEGIN.*\n/m, ''), undefined],
  ])('is no excuse where %s', async (_, text, change) => {
    const store = await begun(lacking)
    await write(store, text)
    if (change === undefined) await ok(importing(store))
    else expect(told(await changedBy(store))).toContain(change)
  })
})

describe('what a killed write leaves beside a relay', () => {
  it.each([
    ['import', (store: TestStore) => importing(store)],
    ['append', (store: TestStore) => appending(store, '--file', 'M8SHIFT.md')],
    ['export', (store: TestStore) => exporting(store, '--out', 'M8SHIFT.md')],
  ])('goes at the next %s, and nothing else does', async (_, run) => {
    const store = await makeStore(relayOf(2))
    await ok(importing(store))
    const pid = process.pid
    const dead = 4_194_303 // above any pid of a common system
    // the second one may be written in another container just now
    const fresh = [`M8SHIFT.md.${pid}.new.tmp`, `M8SHIFT.md.${dead}.new.tmp`]
    const kept = [`M8SHIFT.md.${pid}.abc.tmp`, 'M8SHIFT.md.tmp', `other.md.${dead}.abc.tmp`]
    const gone = [`M8SHIFT.md.${dead}.abc1.tmp`, `M8SHIFT.md.${pid}.old.tmp`]
    for (const name of [...fresh, ...kept, ...gone])
      await writeFile(`${store.root}/${name}`, 'half')
    const minutesAgo = Date.now() / 1000 - 100
    for (const name of [...kept, ...gone]) await utimes(`${store.root}/${name}`, 0, minutesAgo)
    await utimes(`${store.root}/${gone[1]}`, 0, 0)
    await run(store)
    const names = await readdir(store.root)
    expect([...fresh, ...kept].filter((name) => !names.includes(name))).toEqual([])
    expect(gone.filter((name) => names.includes(name))).toEqual([])
  })
})

describe('hstore turn export to stdout', () => {
  it('takes - as such, for one thing', async () => {
    const files = archiveRun(relayOf(4), '', 1)
    const store = await makeStore(files.relay, files.archive)
    await ok(importing(store))
    expect((await ok(exporting(store, '--out', '-'))).out).toBe(files.relay)
    const archive = await ok(exporting(store, '--out', 'back.md', '--archive', '-'))
    expect([archive.out, await readFile(`${store.root}/back.md`, 'utf8')]).toEqual([
      files.archive,
      files.relay,
    ])
    for (const argv of [
      ['--archive', '-'],
      ['--out', '-', '--json'],
    ]) {
      expect((await exporting(store, ...argv)).exit).toBe(2)
    }
    expect(await readdir(store.root)).not.toContain('-')
  })
})
