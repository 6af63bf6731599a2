import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { findPins, readMarkSecret, unpinned } from '../../../src/trust/pin-file.ts'
import { readConfig } from '../../../src/store-folder.ts'
import { findHolder } from '../../../store/holder.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import { runCli } from '../../support/cli.ts'
import type { Dice } from '../dice.ts'
import type { Target } from '../target.ts'
import {
  byteMutator,
  bytesOfText,
  codeOf,
  expectThat,
  jsonMutator,
  textOfBytes,
} from '../target.ts'

const cid = cidTextOf(bytesOfText('genesis'), 'dag-json')
const separator = '\0'

/**
 * The small files that hstore keeps for itself, and the words of its command line.
 *
 * @param folder - An empty one, for what has to be a file.
 */
export async function fileTargets(folder: string): Promise<Target[]> {
  const store = path.join(folder, 'store')
  mkdirSync(path.join(folder, 'trust'), { recursive: true })
  const agent = ['--as', 'csag:agent/merger', '--store', store, '--keys', path.join(folder, 'keys')]
  const made = await runCli(['init', '--no-passphrase', ...agent], { cwd: folder })
  expectThat(`init: ${made.err}`, made.exit === 0)
  const json = (value: object): Uint8Array => bytesOfText(JSON.stringify(value))
  return [
    {
      name: 'config',
      share: 10,
      seeds: [json({ format: 1, genesis: cid, agent: 'a' })],
      mutate: jsonMutator,
      run: (bytes) => runConfig(bytes, folder),
    },
    {
      name: 'pins',
      share: 10,
      seeds: [json({ genesis: cid, ...unpinned(cid) })],
      mutate: jsonMutator,
      run: (bytes) => runPins(bytes, folder),
    },
    {
      name: 'holder',
      share: 10,
      seeds: ['1\n', '4194304', '9999999999\n', `${'a'.repeat(64)}\n`].map(bytesOfText),
      mutate: byteMutator,
      run: (bytes) => runHolder(bytes, folder),
    },
    {
      name: 'argv',
      share: 10,
      seeds: commandLines.map(bytesOfText),
      mutate: mutateWords,
      run: (bytes) => runWords(bytes, agent, folder),
    },
  ]
}

async function runConfig(bytes: Uint8Array, folder: string): Promise<string> {
  writeFileSync(path.join(folder, 'config.json'), bytes)
  try {
    const config = readConfig(folder)
    expectThat('another form', config.format === 1 && config.genesis.length > 50)
    return 'accepted'
  } catch (error) {
    return codeOf(error)
  }
}

async function runPins(bytes: Uint8Array, folder: string): Promise<string> {
  writeFileSync(path.join(folder, 'trust', `${cid}.json`), bytes)
  try {
    const pins = findPins(folder, cid)
    expectThat('another genesis', pins?.path[0] === cid)
    return 'accepted'
  } catch (error) {
    return codeOf(error)
  }
}

async function runHolder(bytes: Uint8Array, folder: string): Promise<string> {
  writeFileSync(path.join(folder, 'holder'), bytes)
  writeFileSync(path.join(folder, 'trust', 'mark-secret'), bytes, { mode: 0o600 })
  const pid = findHolder(folder)
  expectThat(`pid ${pid}`, pid === undefined || (Number.isSafeInteger(pid) && pid > 0))
  const secret = await readMarkSecret(folder)
  expectThat('a short secret', secret.length === 32)
  return pid === undefined ? 'no holder' : 'accepted'
}

const commandLines = [
  'validate\0-\0--json',
  'put\0-\0--shallow\0--parent\0R1',
  'get\0baguqeera\0--out\0x',
  'resume\0csag:w\0--no-certificate',
  'verify\0--all\0--full',
  'log\0x\0-n\u000012',
  'show\0R0001',
  'heads\0--wait\u00001',
  'roster\0add\0a\0did:key:z6Mk',
  'roster\0show',
  'key\0show\0a',
  'key\0export\0csag:agent/merger\0--format\0did',
  'key\0import\0a\0-',
  '--help',
]

const oddWords = [
  '',
  '-',
  '--',
  '---',
  '-x',
  '--json',
  '--json=1',
  '--no-json',
  '--help',
  '--version',
  '--store=',
  '--genesis',
  '--wait',
  '-1',
  '1e999',
  'NaN',
  '\u001b[31mred',
  'a\nb',
  '\r',
  '\u202e',
  '\u0085',
  '\ud800',
  '\u{1f600}',
  'x'.repeat(100_000),
  '../..',
  '/',
  '/dev/null',
  '%00',
  '__proto__',
  'constructor',
  'help',
]

/** Changes the words of a command line, which stand with NUL between them: no system hands over a NUL in a word. */
function mutateWords(seed: Uint8Array, dice: Dice, other: Uint8Array): Uint8Array {
  const words = textOfBytes(seed).split(separator)
  for (let left = 1 + dice.below(3); left > 0; left--) {
    const at = dice.below(words.length + 1)
    const word = dice.isBelow(70) ? dice.pick(oddWords) : textOfBytes(dice.bytes(1 + dice.below(9)))
    const more = dice.isBelow(20) ? textOfBytes(other).split(separator) : [word]
    words.splice(at, dice.below(2), ...more)
  }
  return bytesOfText(words.join(separator))
}

/** What may not reach a terminal from others: everything that it obeys, and what hides or turns text. */
const obeyed = /[\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]/u

async function runWords(
  bytes: Uint8Array,
  agent: readonly string[],
  folder: string,
): Promise<string> {
  const words = textOfBytes(bytes).split(separator)
  const ran = await runCli([...words, ...agent], { cwd: folder, stdin: '{}' })
  const isHelp = ran.err.startsWith('Usage:') || ran.exit === 0
  expectThat(`exit ${ran.exit} without a word`, ran.out !== '' || ran.err !== '' || ran.exit === 0)
  const lines = ran.err === '' ? [] : ran.err.replace(/\n$/, '').split('\n')
  expectThat(`exit ${ran.exit}`, ran.exit >= 0 && ran.exit <= 9)
  expectThat(`${lines.length} lines: ${ran.err}`, isHelp || lines.length <= 1)
  expectThat(
    `a stack or a bug: ${ran.err}`,
    !/HSTORE_BUG|fault of hstore|\bat .*:\d+/.test(ran.err),
  )
  expectThat(`controls: ${ran.err}`, !lines.some((line) => obeyed.test(line)))
  return `exit ${ran.exit}`
}
