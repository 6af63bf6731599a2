import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCli } from '../support/cli.ts'
import { makeSharedFolder } from '../support/store.ts'

const shared = await makeSharedFolder()
let runs = 0

/** Runs a command line in a folder of its own. */
function run(...argv: string[]): ReturnType<typeof runCli> {
  const cwd = shared
  const at = path.join(shared, String(runs++))
  return runCli(argv, {
    cwd,
    env: { HSTORE_STORE: path.join(at, 's'), HSTORE_KEYS: path.join(at, 'k') },
  })
}

describe('an agent id that is not of the form csag:agent/NAME', () => {
  const hint = /^hstore: hint: put wants agent-a in an envelope's created_by; .* csag:agent\/NAME$/m

  it('is taken, with a hint', async () => {
    const made = await run('init', '--as', 'agent-a', '--no-passphrase')
    expect(made.exit).toBe(0)
    expect(made.err).toMatch(hint)
    const key = await run('key', 'new', 'agent-a', '--no-passphrase')
    expect(key.exit).toBe(0)
    expect(key.err).toMatch(hint)
  })

  it('is the only one that gets a hint', async () => {
    const made = await run('init', '--as', 'csag:agent/agent-a', '--no-passphrase')
    expect(made).toMatchObject({ exit: 0, err: expect.not.stringContaining('hint') })
    expect(await run('key', 'new', 'csag:agent/agent-a', '--no-passphrase')).toMatchObject({
      exit: 0,
      err: '',
    })
  })
})

describe('an agent id that can not be', () => {
  const verbs: readonly (readonly string[])[] = [
    ['init', '--no-passphrase', '--as'],
    ['key', 'new', '--no-passphrase'],
    ['key', 'import', '--no-passphrase'],
  ]
  it.each(verbs)('is refused by %s %s', async (...words) => {
    const behind = words[1] === 'import' ? ['-'] : []
    const argv = (agent: string) => [...words, agent, ...behind]
    const odd = await runCli(argv('a\u{fffd}b'), {
      cwd: shared,
      env: { HSTORE_KEYS: shared },
      stdin: 'x',
    })
    expect(odd.exit).toBe(2)
    expect(odd.err).toContain('U+FFFD')
    const long = await runCli(argv('é'.repeat(100)), {
      cwd: shared,
      env: { HSTORE_KEYS: shared },
      stdin: 'x',
    })
    expect(long.exit).toBe(2)
    expect(long.err).toContain('key file would have a name of 604 bytes')
  })
})
