import { cp, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { TurnReport } from '../../src/contracts/turns/validate.ts'
import type { Ran, RunOptions } from '../support/cli.ts'
import { runCli } from '../support/cli.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const fixtures = fileURLToPath(new URL('../../fixtures/turns', import.meta.url))
const inCase = (name: string, ...argv: string[]): Promise<Ran> =>
  runCli(['turn', ...argv], { cwd: `${fixtures}/${name}` })
const reportOf = (ran: Ran): TurnReport => JSON.parse(ran.out) as TurnReport

async function over(relay: string, argv: readonly string[], more: RunOptions = {}): Promise<Ran> {
  const folder = await makeTempFolder()
  await writeFile(`${folder}/M8SHIFT.md`, relay)
  return runCli(['turn', ...argv], { cwd: folder, ...more })
}

const lock =
  '<!-- M8SHIFT:LOCK:BEGIN -->\nholder: none\nstate: IDLE\nagents: alpha,beta\nturn: 1\n<!-- M8SHIFT:LOCK:END -->\n'
const turnOf = (content: string): string =>
  `${lock}<!-- M8SHIFT:TURN 1 alpha BEGIN -->\n${content}\n<!-- M8SHIFT:TURN 1 alpha END -->\n`

describe('hstore turn validate', () => {
  it("has upstream's keys, and advisories", async () => {
    const report = reportOf(await inCase('example', 'validate', '--json'))
    expect(Object.keys(report)).toEqual([
      'findings',
      'm8shift_version',
      'ok',
      'schema',
      'severity_min',
      'strict',
      'advisories',
    ])
    expect(report).toMatchObject({ m8shift_version: '3.65.0+hstore', schema: 'stage4.v1' })
    const [first] = report.findings
    expect(Object.keys(first!)).toEqual([
      'agent',
      'check',
      'field',
      'message',
      'path',
      'severity',
      'turn',
    ])
    const all = reportOf(await inCase('example', 'validate', '--all', '--json')).findings
    expect(all.find(({ check }) => check === 'contract.schema_missing')).toHaveProperty('fix_hint')
  })

  it.each([
    [[], 0],
    [['--strict'], 1],
    [['--severity-min', 'error'], 0],
    [['--severity-min', 'error', '--strict'], 1],
    [['--severity-min', 'none'], 2],
    [['--severity'], 2],
  ] as const)('with %j ends with %i', async (flags, exit) => {
    expect((await inCase('example', 'validate', ...flags)).exit).toBe(exit)
  })

  it('leaves out what is less severe, from the verdict too', async () => {
    const warnings = turnOf('- schema: stage4.v1')
    const ran = await over(warnings, ['validate', '--strict', '--severity-min', 'error', '--json'])
    expect(ran.exit).toBe(0)
    expect(reportOf(ran)).toMatchObject({ findings: [], ok: true, severity_min: 'error' })
    expect((await over(warnings, ['validate', '--strict'])).exit).toBe(1)
  })

  it('takes an archive that is named, and with --all the one beside the relay', async () => {
    const folder = await makeTempFolder()
    await cp(`${fixtures}/example`, `${folder}/relays`, { recursive: true })
    const count = async (...argv: string[]): Promise<number> =>
      reportOf(await runCli(['turn', 'validate', ...argv, '--json'], { cwd: folder })).findings
        .length
    const alone = await count('relays/M8SHIFT.md')
    expect(await count('relays/M8SHIFT.md', '--all')).toBe(alone + 1)
    const archive = ['--archive', 'relays/M8SHIFT.archive.md']
    expect(await count('relays/M8SHIFT.md', ...archive)).toBe(alone + 1)
    const none = await runCli(['turn', 'validate', 'relays/M8SHIFT.md', '--archive', 'none'], {
      cwd: folder,
    })
    expect([none.exit, none.out]).toEqual([1, ''])
    expect(none.err).toContain('none: there is no such file')
  })

  it('goes without an archive where none lies beside the relay', async () => {
    expect((await over(turnOf('- to: beta'), ['validate', '--all'])).exit).toBe(0)
  })

  it('reads stdin', async () => {
    const ran = await runCli(['turn', 'validate', '-', '--json'], {
      cwd: '/',
      stdin: turnOf('- schema: x'),
    })
    expect(reportOf(ran).findings.map(({ check }) => check)).toEqual(['contract.schema_unknown'])
  })

  it.each(['not-utf8', 'lock-missing', 'lock-state', 'long-number'])(
    'ends with 1 and prints nothing for %s, which M8Shift refuses',
    async (name) => {
      const ran = await inCase(name, 'validate', '--json')
      expect([ran.exit, ran.out]).toEqual([1, ''])
      expect(JSON.parse(ran.err)).toMatchObject({
        schema: 'hstore.error/1',
        code: 'HSTORE_RELAY_INVALID',
        path: 'M8SHIFT.md',
      })
    },
  )

  it('ends with 1 where there is no relay, or an empty one', async () => {
    const folder = await makeTempFolder()
    const none = await runCli(['turn', 'validate'], { cwd: folder })
    expect([none.exit, none.err]).toEqual([
      1,
      'hstore: M8SHIFT.md: there is no such file or folder\n',
    ])
    expect((await over('', ['validate'])).err).toBe('hstore: M8SHIFT.md: is empty\n')
  })

  it('prints a number that no double holds', async () => {
    expect((await inCase('great-number', 'validate', '--json')).out).toContain(
      '"turn":9007199254740993}',
    )
  })

  it('prints more findings than go in one piece', async () => {
    const turns = Array.from(
      { length: 1500 },
      (_, i) =>
        `<!-- M8SHIFT:TURN ${i + 1} alpha BEGIN -->\n- schema: x\n<!-- M8SHIFT:TURN ${i + 1} alpha END -->\n`,
    )
    const relay = lock + turns.join('')
    const { findings } = reportOf(await over(relay, ['validate', '--json']))
    expect(findings.map(({ turn }) => turn)).toEqual(turns.map((_, i) => i + 1))
    expect((await over(relay, ['validate'])).out.split('\n')).toHaveLength(1502)
  })

  it('refuses a relay of more than 32 MiB, and a LOCK block of more than one', async () => {
    const large = turnOf('x'.repeat(32 * 1024 * 1024))
    expect((await over(large, ['validate'])).err).toBe('hstore: M8SHIFT.md: is more than 32 MiB\n')
    const block = turnOf('').replace('turn:', `note: ${'x'.repeat(1024 * 1024)}\nturn:`)
    expect((await over(block, ['validate'])).err).toContain('has no LOCK block (or one past 1 MiB)')
  })

  it('says something of any bytes, and never that hstore is at fault', async () => {
    const folder = await makeTempFolder()
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 8 }),
            fc
              .constantFrom(lock, turnOf('- to: alpha'), '<!-- M8SHIFT:TURN 1 alpha ', 'END -->')
              .map((text) => new Uint8Array(Buffer.from(text))),
          ),
          { maxLength: 12 },
        ),
        async (pieces) => {
          await writeFile(`${folder}/M8SHIFT.md`, Buffer.concat(pieces))
          for (const argv of [
            ['validate', '--strict'],
            ['validate', '--json'],
            ['peek', 'alpha'],
          ]) {
            const { exit, err } = await runCli(['turn', ...argv], { cwd: folder })
            expect([0, 1, 3]).toContain(exit)
            expect(err).not.toContain('fault')
          }
        },
      ),
    )
  })

  it('prints nothing that a terminal obeys', async () => {
    const hostile = turnOf('- schema: \u001b[2J\u202ex\n- to: \u0007\n- handoff: \u009b')
    for (const flags of [[], ['--json']]) {
      const ran = await over(hostile, ['validate', ...flags])
      // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
      expect(ran.out + ran.err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    }
  })
})

describe('hstore turn peek', () => {
  it('prints fields, then the body', async () => {
    const ran = await inCase('example', 'peek', 'beta')
    expect(ran.exit).toBe(3)
    expect(ran.out).toMatch(/^from=alpha\nto=beta\nask=check the drift of the gauge\n/)
    expect(ran.out).toMatch(/\n\n3\.00 mm a day, upwards\.\nThe staff does not show it\.\n$/)
  })

  it('has number and author in its JSON, and the file from --file', async () => {
    const file = `${fixtures}/example/M8SHIFT.md`
    const ran = await runCli(['turn', 'peek', 'alpha', '--file', file, '--json'], { cwd: '/' })
    expect(JSON.parse(ran.out)).toMatchObject({
      schema: 'hstore.turn/1',
      agent: 'alpha',
      state: 'WORKING_ALPHA',
      ready: false,
      turn: { number: '5', agent: 'beta', body: '' },
    })
  })

  it('ends with 1 for an agent that the relay does not list', async () => {
    const ran = await inCase('example', 'peek', 'Beta')
    expect([ran.exit, ran.out]).toEqual([1, ''])
    expect(ran.err).toBe('hstore: M8SHIFT.md does not list "Beta": it is of alpha, beta\n')
  })

  it('prints nothing that a terminal obeys, and the zero width space as it is', async () => {
    const hostile = turnOf('- to: beta\n- ask: \u001b[2J\u202e\n\nM8SHIFT\u200b:TURN\t\u0007')
    const { out } = await over(hostile, ['peek', 'beta'])
    expect(out).toBe('to=beta\nask=\\x1b[2J\\u202e\n\nM8SHIFT\u200b:TURN\t\\x07\n')
  })
})
