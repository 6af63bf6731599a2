import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { launcher, runCli } from '../support/cli.ts'

/** Returns the exit code and the standard error of a command whose standard output takes nothing. */
async function intoFull(words: string): Promise<{ readonly exit: unknown; readonly err: string }> {
  const command = `exec "$0" "$1" ${words} > /dev/full`
  return new Promise((resolve) => {
    execFile('sh', ['-c', command, process.execPath, launcher], (error, _out, err) =>
      resolve({ exit: error?.code ?? 0, err }),
    )
  })
}

describe.skipIf(!existsSync('/dev/full'))('help into a full disk', () => {
  it.each(['--help', 'help put', 'put --help', '--version', '--version --wait 1', 'key new -h'])(
    'hstore %s says so in one line and ends with 8',
    async (words) => {
      const { exit, err } = await intoFull(words)
      expect(exit).toBe(8)
      expect(err).toMatch(/^hstore: standard output can't be written: [^\n]+\n$/)
    },
  )
})

describe('a command line without a verb', () => {
  it.each([
    ['--wait heads', 'no verb was given (did --wait take it?); hstore --help lists the verbs'],
    ['--as csag:agent/a', 'no verb was given; hstore --help lists the verbs'],
    ['nope --help', 'there is no verb "nope"; hstore --help lists the verbs'],
    ['key nope --help', 'there is no verb "key nope"; hstore --help lists the verbs'],
  ])('hstore %s', async (words, said) => {
    const { exit, out, err } = await runCli(words.split(' '))
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
    expect(err.split('\n')).toHaveLength(2)
    expect(err).toBe(`hstore: ${said}\n`)
  })

  it('is told as JSON where JSON is asked for', async () => {
    const { exit, err } = await runCli(['--json'])
    expect(exit).toBe(2)
    expect(JSON.parse(err)).toMatchObject({ code: 'HSTORE_USAGE' })
  })

  it('shows help where help is asked for behind an option', async () => {
    const { out } = await runCli(['--help'])
    expect(await runCli(['--json', 'help'])).toMatchObject({ exit: 0, out, err: '' })
    expect((await runCli(['--json', 'help', 'nope'])).exit).toBe(2)
  })
})

describe('a verb that is used wrongly', () => {
  it.each([
    [
      'heads x',
      "too many arguments for 'heads'. Expected 0 arguments but got 1; hstore help heads says how",
    ],
    ['put', "missing required argument 'file'; hstore help put says how"],
    ['key new', "missing required argument 'agent'; hstore help key new says how"],
    ...['fetch', 'pull', 'push'].map((word) => [
      `${word} origin`,
      `unknown command '${word}' (Did you mean sync?); hstore --help lists the verbs`,
    ]),
    ['nope', "unknown command 'nope'; hstore --help lists the verbs"],
  ])('hstore %s', async (words, said) => {
    expect(await runCli(words.split(' '))).toMatchObject({ exit: 2, err: `hstore: ${said}\n` })
  })

  it.each(['--as', '--store', '--keys', '--genesis', '--passphrase-file'])(
    'takes no empty %s for none',
    async (option) => {
      const { exit, err } = await runCli(['heads', option, ''])
      expect(exit).toBe(2)
      expect(err).toBe(`hstore: ${option} is empty: give it a value, or leave it out\n`)
    },
  )

  it('takes no empty word for a folder, and an empty text for what it is', async () => {
    const none = await runCli(['get', 'x', '--out', ''])
    expect(none).toMatchObject({ exit: 2, err: expect.stringMatching(/^hstore: --out is empty: /) })
    const text = await runCli(['turn', 'append', 'a', '--ask', ''])
    expect(text.err).not.toContain('is empty')
  })

  it('says nothing of the list of verbs where the words are right', async () => {
    let asked = 0
    const typed = {
      get typed() {
        return `secret ${asked++}`
      },
    }
    const { exit, err } = await runCli(['key', 'new', 'csag:agent/a', '--keys', '/tmp/none'], typed)
    expect(exit).toBe(2)
    expect(err).toBe('hstore: the two passphrases differ: nothing was made\n')
  })
})
