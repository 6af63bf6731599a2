import type { KeyReport } from '../../key-verbs.ts'
import {
  allKeys,
  importKey,
  newKeyFor,
  privateKeyText,
  publicKeyText,
  showKey,
} from '../../key-verbs.ts'
import { readInput } from '../input.ts'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { keysFolder, newPassphraseOf, passphraseOf } from '../settings.ts'

/** `hstore key new`: makes a key, prints its did. */
export const keyNew: Verb = async (io, [agent = ''], options) => {
  const noPassphrase = options['passphrase'] === false
  const ask = newPassphraseOf(io, options)
  const key = await newKeyFor(keysFolder(io, options), agent, noPassphrase, ask)
  await io.out(options.json === true ? jsonLine('key', key) : `${key.did}\n`)
  return 0
}

/** `hstore key list`: one line a key. */
export const keyList: Verb = async (io, _args, options) => {
  const keys = await allKeys(keysFolder(io, options))
  await io.out(options.json === true ? jsonLine('key', { keys }) : keys.map(line).join(''))
  return 0
}

/** `hstore key show`: one key. */
export const keyShow: Verb = async (io, [agent = ''], options) => {
  const key = await showKey(keysFolder(io, options), agent)
  await io.out(options.json === true ? jsonLine('key', key) : line(key))
  return key.problem === undefined ? 0 : 4
}

/** `hstore key import`: takes over a private key, prints its did. */
export const keyImport: Verb = async (io, [agent = '', file = ''], options) => {
  const bytes = await readInput(io, file)
  const key = await importKey(
    keysFolder(io, options),
    agent,
    bytes,
    options['passphrase'] === false,
    passphraseOf(io, options),
    newPassphraseOf(io, options),
  )
  await io.out(options.json === true ? jsonLine('key', key) : `${key.did}\n`)
  return 0
}

/** `hstore key export`: prints the public key, or with --secret the private one. */
export const keyExport: Verb = async (io, [agent = ''], options) => {
  const folder = keysFolder(io, options)
  const format = options['format'] ?? 'openssh'
  if (format !== 'openssh' && format !== 'did') throw new UsageError('--format is openssh or did')
  const isSecret = options['secret'] === true
  if (isSecret && format === 'did')
    throw new UsageError('a did is public: --secret goes with openssh')
  const key = await showKey(folder, agent)
  const publicKey = (await publicKeyText(folder, agent)).trimEnd()
  const secret = isSecret
    ? await privateKeyText(folder, agent, passphraseOf(io, options))
    : undefined
  if (options.json === true) {
    await io.out(
      jsonLine('key', { ...key, openssh: publicKey, ...(secret === undefined ? {} : { secret }) }),
    )
  } else await io.out(secret ?? (format === 'did' ? `${key.did}\n` : `${publicKey}\n`))
  return 0
}

function line({ agent, did, level, path, comment, problem }: KeyReport): string {
  const parts = [
    agent,
    did === '' ? '-' : did,
    level,
    path,
    ...(comment === undefined || comment === agent ? [] : [comment]),
  ]
  return `${plain([...parts, ...(problem === undefined ? [] : [`(${problem})`])].join('  '))}\n`
}
