import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { exampleNow, exitCodes, readExample, readStatusCases } from '../src/hrc/cases.ts'
import type { Ran } from '../support/cli.ts'
import { runCli } from '../support/cli.ts'
import { makeSharedFolder } from '../support/store.ts'

const home = await makeSharedFolder()
const options = ['state', 'proposal', 'signal', 'ack'] as const
let folders = 0

type Texts = Readonly<Record<string, string | Uint8Array | undefined>>

/** Runs `hrc evaluate` on documents that are spelled as given; those that are absent are not named. */
async function evaluate(stage: string, texts: Texts, ...more: readonly string[]): Promise<Ran> {
  const cwd = path.join(home, String((folders += 1)))
  await mkdir(cwd)
  const named = options.filter((option) => texts[option] !== undefined)
  for (const option of named) await writeFile(path.join(cwd, option), texts[option]!)
  const words = named.flatMap((option) => [`--${option}`, option])
  return runCli(['hrc', 'evaluate', '--stage', stage, ...words, ...more], { cwd })
}

function spelled(documents: object): Texts {
  return Object.fromEntries(
    Object.entries(documents).flatMap(([name, document]) =>
      options.some((option) => option === name) ? [[name, JSON.stringify(document)]] : [],
    ),
  )
}

const example = spelled(readExample())
const now = ['--now', String(exampleNow)]

describe('hrc evaluate', () => {
  it.each([...readStatusCases()])(
    '%s',
    async (status, { stage, now: at, breaksSchema, ...one }) => {
      const tick = at === undefined ? [] : ['--now', String(at)]
      const json = await evaluate(stage, spelled(one), ...tick, '--json')
      if (breaksSchema === true) {
        expect(json).toMatchObject({ exit: 2, out: '' })
        expect(JSON.parse(json.err)).toMatchObject({ code: 'HSTORE_DOCUMENT_INVALID' })
        return
      }
      expect(json).toMatchObject({ exit: exitCodes[one.expected.status], err: '' })
      expect(JSON.parse(json.out)).toEqual({ schema: 'hstore.hrc/1', ...one.expected })
      const { out } = await evaluate(stage, spelled(one), ...tick)
      const detail = Object.entries(one.expected.detail).map(
        ([key, value]) => `${key} ${String(value)}`,
      )
      expect(out.split('\n')).toEqual([status, ...detail, ''])
    },
  )

  it('judges by the clock where no time is given', async () => {
    const seconds = Math.floor(Date.now() / 1000)
    const signal = { ...readExample().signal, observed_at_tick: seconds - 60 }
    const at = async (valid_until_tick: number): Promise<string> => {
      const text = JSON.stringify({ ...signal, valid_until_tick })
      return (await evaluate('handoff', { ...example, signal: text })).out.split('\n')[0]!
    }
    expect(await at(seconds - 1)).toBe('PENDING_UNREACHABLE')
    expect(await at(seconds + 600)).toBe('HANDOFF_DELIVERABLE')
    const later = JSON.stringify({ ...signal, observed_at_tick: seconds + 600 })
    expect((await evaluate('handoff', { ...example, signal: later })).exit).toBe(1)
  })

  it('reads one file from stdin', async () => {
    const words = ['hrc', 'evaluate', '--stage', 'transition', '--state', '-', '--proposal']
    const stdin = example['state'] as string
    const file = path.join(home, 'proposal')
    await writeFile(file, example['proposal']!)
    expect((await runCli([...words, file], { stdin })).exit).toBe(3)
    expect(await runCli([...words, '-'], { stdin })).toMatchObject({ exit: 2, out: '' })
  })

  it.each([
    ['no stage', ['--state', 's', '--proposal', 'p'], '--stage'],
    ['another stage', ['--stage', 'ack', '--state', 's', '--proposal', 'p'], '--stage'],
    ['no state', ['--stage', 'commit', '--proposal', 'p'], '--state'],
    ['an empty name', ['--stage', 'commit', '--state', '', '--proposal', 'p'], '--state'],
    ['no such file', ['--stage', 'commit', '--state', 'nowhere', '--proposal', 'p'], 'nowhere'],
    ['a folder', ['--stage', 'commit', '--state', '.', '--proposal', 'p'], '.'],
    ['a word behind', ['--stage', 'commit', 'x'], 'too many arguments'],
  ])('ends with 2 for %s', async (_, words, names) => {
    const { exit, out, err } = await runCli(['hrc', 'evaluate', ...words], { cwd: home })
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    expect(err).toMatch(/^hstore: [^\n]+\n$/)
    expect(err).toContain(names)
  })

  it.each(['-1', '1.5', '1e3', 'now', '0x10', '99999999999999999', ' 1', '٣'])(
    'ends with 2 for --now %s',
    async (tick) => {
      const ran = await evaluate('handoff', example, `--now=${tick}`)
      expect(ran).toMatchObject({ exit: 2, out: '' })
      expect(ran.err).toContain('--now')
    },
  )

  it('names the file and the place, and with --json every one', async () => {
    const texts = {
      ...example,
      ack: String.raw`{"ack_id":"","\u001b[2J":1}`,
      state: '{"lane_id":7}',
    }
    const line = await evaluate('commit', texts, ...now)
    expect(line).toMatchObject({ exit: 2, out: '' })
    expect(line.err).toMatch(
      /^hstore: state \/lane_id: [^\n]+ \(and \d+ more; --json lists all\)\n$/,
    )
    const json = JSON.parse((await evaluate('commit', texts, ...now, '--json')).err) as {
      readonly findings: readonly { readonly path: string; readonly pointer: string }[]
    }
    const places = json.findings.map((one) => `${one.path} ${one.pointer}`)
    expect(places).toContain('state /owner_ref')
    expect(places).toContain('ack /recipient_ref')
  })
})

describe('hrc evaluate on hostile documents', () => {
  const codes = ['HSTORE_DOCUMENT_INVALID', 'HSTORE_INPUT_UNREADABLE', 'HSTORE_JSON_INVALID']
  const odd = fc.oneof(
    fc.constantFrom('1e400', '-0', '2.0', '[]', '{}', 'null', '"\\ud800"', '"\\u202e\\u001b[2J"'),
    fc.constantFrom('['.repeat(5000), '9'.repeat(5000), `"${'x'.repeat(5000)}"`, '{"__proto__":1}'),
    fc.json(),
    fc.string({ unit: 'binary' }),
  )
  const member = fc.tuple(
    fc.constantFrom(
      ...Object.values(readExample()).flatMap((one) => Object.keys(one)),
      '__proto__',
    ),
    odd,
  )
  const cut = fc.tuple(fc.constantFrom(...options), fc.nat(600))
  const put = fc.tuple(
    fc.constantFrom(...options),
    fc.array(member, { minLength: 1, maxLength: 3 }),
  )
  const bytes = fc.tuple(fc.constantFrom(...options), fc.uint8Array({ maxLength: 60 }))

  function hostile(
    change: readonly [string, number | Uint8Array | readonly [string, string][]],
  ): Texts {
    const [option, what] = change
    const text = example[option] as string
    if (typeof what === 'number') return { ...example, [option]: text.slice(0, what) }
    if (what instanceof Uint8Array) return { ...example, [option]: what }
    const members = what.map(([key, value]) => `,${JSON.stringify(key)}:${value}`).join('')
    return { ...example, [option]: `${text.slice(0, -1)}${members}}` }
  }

  it('ends with one line and a known code, whatever they are', async () => {
    const runs = process.env['HSTORE_SOAK'] === undefined ? 300 : 20_000
    const stages = fc.constantFrom('transition', 'handoff', 'commit')
    await fc.assert(
      fc.asyncProperty(fc.oneof(cut, put, bytes), stages, async (change, stage) => {
        const { exit, out, err } = await evaluate(stage, hostile(change), ...now, '--json')
        expect([0, 2, 3]).toContain(exit)
        expect(exit === 2 ? out : err).toBe('')
        expect(exit === 2 ? err : out).toMatch(/^\{[^\p{Cc}\u202e]*\}\n$/u)
        if (exit === 2) expect(codes).toContain((JSON.parse(err) as { code: string }).code)
        const text = await evaluate(stage, hostile(change), ...now)
        expect(text.exit).toBe(exit)
        if (exit === 2) expect(text.err).toMatch(/^hstore: [^\p{Cc}\u202e]+\n$/u)
      }),
      { numRuns: runs },
    )
  })
})
