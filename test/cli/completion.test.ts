import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { bashScript } from '../../src/cli/completion/bash.ts'
import { fishScript } from '../../src/cli/completion/fish.ts'
import { placesOf } from '../../src/cli/completion/places.ts'
import { zshScript } from '../../src/cli/completion/zsh.ts'
import { globalOptions, verbs } from '../../src/cli/verb-table.ts'
import { runCli } from '../support/cli.ts'
import { makeSharedFolder } from '../support/store.ts'

const folder = await makeSharedFolder()
const places = placesOf(verbs, globalOptions)
const top = places[0]!.verbs.map(({ name }) => name)
const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }
const here = (['bash', 'zsh', 'fish'] as const).filter(
  (shell) => spawnSync(shell, ['-c', 'exit 0']).status === 0,
)

/** Returns what bash offers after the words of a line, cut into words as bash cuts them, and what it leaves to readline. */
function offered(
  words: readonly string[],
  script = bashScript(places),
): { words: readonly string[]; paths: string } {
  const program = `${script}
compopt() { told="$*"; }
told='' COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=(stale)
_hstore hstore '' ''
printf '%s\n' "$told" \${COMPREPLY[@]+"\${COMPREPLY[@]}"}`
  const bash = ['--noprofile', '--norc', '-uc', program, 'hstore', 'hstore', ...words]
  const { status, stdout, stderr } = spawnSync('bash', bash, { cwd: folder, encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  const [told = '', ...rest] = stdout.split('\n')
  const paths = { '': 'files', '+o default': 'none', '+o default -o dirnames': 'folders' }[told]
  return { words: rest.slice(0, -1), paths: paths ?? told }
}

describe('completion in bash', () => {
  it.each(places)('after hstore $path', ({ path: verb, verbs: below, options }) => {
    const names = options.flatMap((option) => option.names)
    const all = offered([...verb, '-']).words
    for (const name of [...names, '-h', '--help']) expect(all).toContain(name)
    for (const [flags] of globalOptions) expect(all).toContain(flags.split(' ')[0])
    expect(new Set(all).size).toBe(all.length)
    if (below.length > 0) {
      expect(offered([...verb, '']).words).toEqual(below.map(({ name }) => name))
    }
  })

  const lines: readonly [line: string, words: readonly string[], paths?: string][] = [
    ['pu', ['put']],
    ['re', ['resume', 'remote']],
    ['key e', ['export']],
    ['key export --format ', ['openssh', 'pem', 'jwk', 'did']],
    ['key export --format = j', ['jwk']],
    ['key export --format =', ['openssh', 'pem', 'jwk', 'did']],
    ['key export csag : agent/a --sec', ['--secret']],
    ['--as put pu', ['put']],
    ['--as csag : agent/merger key n', ['new']],
    ['--store folder key export --f', ['--format']],
    ['help ', top],
    ['help key s', ['show', 'signers']],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['put ', [], 'files'],
    ['key import csag : agent/a ', [], 'files'],
    ['--passphrase-file ', [], 'files'],
    ['--store ', [], 'folders'],
    ['resume x --out ', [], 'folders'],
    ['--as ', []],
    ['heads ', []],
    ['nonsense', []],
    ['log -n ', []],
    ['put -- -', [], 'files'],
    ['key export -- --f', []],
    ['--as -- key export --f', ['--format']],
  ]
  it.each(lines)('hstore %s', (line, words, paths = 'none') => {
    expect(offered(line.split(' '))).toEqual({ words, paths })
  })

  it('expands nothing that was typed, and no name of a file', async () => {
    const odd = ['$(touch typed)', '`touch typed`', '*', "'", '"', '\\', '--$(touch typed)', 'a b']
    await mkdir(path.join(folder, '$(touch named)'), { recursive: true })
    await writeFile(path.join(folder, 'put'), '')
    for (const word of odd) {
      // a quote alone is an empty word to bash
      const isQuote = ["'", '"', '\\'].includes(word)
      expect(offered([word]).words).toEqual(isQuote ? top : [])
      expect(offered([word, 'pu']).words).toEqual(['put'])
      const formats = offered(['key', 'export', '--format', word]).words
      expect(formats).toHaveLength(isQuote ? 4 : 0)
    }
    expect(['typed', 'named'].filter((name) => existsSync(path.join(folder, name)))).toEqual([])
  })
})

describe.each(Object.entries(scripts))('the script for %s', (shell, script) => {
  it('is what hstore completion prints, without store, key or agent', async () => {
    const ran = await runCli(['completion', shell])
    expect(ran).toMatchObject({ exit: 0, out: script(places), err: '' })
  })

  it('names every verb and every option', () => {
    const text = script(places)
    for (const { verbs: below, options } of places) {
      for (const { name } of below) expect(text).toContain(name)
      for (const name of options.flatMap((option) => option.names)) {
        const written =
          shell === 'fish' ? name.replace(/^--/, '-l ').replace(/^-(?=\w$)/, '-s ') : name
        expect(text).toContain(written)
      }
    }
  })

  it('holds what a table may hold, quoted', () => {
    const summary = `it's "$(touch made)" \`touch made\` \\ [x]: %s`
    const odd = placesOf(
      [{ name: 'odd', summary, example: '', options: [['--odd <dir>', summary]] }],
      [],
    )
    const file = script(odd)
    if (!here.includes(shell as 'bash')) expect(file.split("'").length % 2).toBe(1)
    else
      execFileSync(shell, ['-c', `${shell === 'zsh' ? 'compdef() { :; };' : ''}${file}`], {
        cwd: folder,
      })
    expect(existsSync(path.join(folder, 'made'))).toBe(false)
  })
})

it('is well-formed for every shell that is here', async () => {
  expect(here).toContain('bash')
  for (const shell of here) {
    const file = path.join(folder, `script.${shell}`)
    await writeFile(file, scripts[shell](places))
    const { status, stderr } = spawnSync(shell, ['-n', file], { encoding: 'utf8' })
    expect({ shell, status, stderr }).toEqual({ shell, status: 0, stderr: '' })
  }
})

it.runIf(here.includes('fish'))('offers no option behind -- in fish', async () => {
  const file = path.join(folder, 'ended.fish')
  await writeFile(file, `${fishScript(places)}\ncomplete -C "hstore log $argv[1]"\n`)
  const after = (words: string): string =>
    execFileSync('fish', ['--no-config', file, words], { cwd: folder, encoding: 'utf8' })
  expect(after('--gr')).toContain('--graph')
  expect(after('-- --gr')).not.toContain('--graph')
})

it('tells zsh that options end at --', () => {
  const calls = zshScript(places).match(/_arguments .*/g) ?? []
  expect(calls.length).toBeGreaterThan(0)
  expect(calls.filter((call) => !call.startsWith('_arguments -S '))).toEqual([])
})

it('is there for no other shell', async () => {
  expect((await runCli(['completion', 'tcsh'])).exit).toBe(2)
  expect((await runCli(['completion'])).exit).toBe(2)
})
