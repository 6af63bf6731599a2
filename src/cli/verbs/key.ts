import type { KeyFormat, KeyReport } from '../../key-verbs.ts'
import {
  allKeys,
  exportKey,
  exportSecretKey,
  importAgentKey,
  importKey,
  newKeyFor,
  showKey,
} from '../../key-verbs.ts'
import { readInput } from '../input.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { GlobalOptions, Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import {
  hintOfForm,
  keysFolder,
  newPassphraseOf,
  passphraseOf,
  sshAgentOf,
  warnOfPassphraseFile,
} from '../settings.ts'

type KeyOptions = Parameters<Verb>[2]

/** `hstore key new`: makes a key, prints its did. */
export const keyNew: Verb = async (io, [agent = ''], options) => {
  const noPassphrase = options['passphrase'] === false
  const ask = newPassphraseOf(io, options)
  const key = await newKeyFor(keysFolder(io, options), agent, noPassphrase, ask)
  await warnOfPassphraseFile(io, options, agent)
  await io.out(options.json === true ? jsonLine('key', key) : `${key.did}\n`)
  hintOfForm(io, agent)
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

/** `hstore key import`: takes over a private key, or one that ssh-agent keeps; prints its did. */
export const keyImport: Verb = async (io, [agent = '', file = ''], options) => {
  const bytes = await readInput(io, file)
  const key =
    options['sshAgent'] === true
      ? await keptByAgent(io, agent, bytes, options)
      : await takenOver(io, agent, bytes, options)
  await io.out(options.json === true ? jsonLine('key', key) : `${key.did}\n`)
  return 0
}

function keptByAgent(
  io: Io,
  agent: string,
  bytes: Uint8Array,
  options: KeyOptions,
): Promise<KeyReport> {
  if (options['passphrase'] === false || options.passphraseFile !== undefined) {
    throw new UsageError('--ssh-agent makes no key file: leave --no-passphrase and the like out')
  }
  return importAgentKey(keysFolder(io, options), agent, bytes, sshAgentOf(io))
}

async function takenOver(
  io: Io,
  agent: string,
  bytes: Uint8Array,
  options: KeyOptions,
): Promise<KeyReport> {
  const open = passphraseOf(io, options)
  let isLocked = false
  const key = await importKey(
    keysFolder(io, options),
    agent,
    bytes,
    options['passphrase'] === false,
    () => {
      isLocked = true
      return open()
    },
    newPassphraseOf(io, options),
  )
  if (!isLocked) await warnOfPassphraseFile(io, options, agent)
  return key
}

/** `hstore key export`: prints the public key, or with --secret the private one. */
export const keyExport: Verb = async (io, [agent = ''], options) => {
  const folder = keysFolder(io, options)
  const format = formatOf(options['format'])
  const isSecret = options['secret'] === true
  if (isSecret) await warnOfPassphraseFile(io, options, agent)
  const secret = isSecret ? await secretOf(io, agent, format, options) : undefined
  const text = await exportKey(folder, agent, format)
  if (options.json === true) {
    const openssh = (await exportKey(folder, agent)).trimEnd()
    const shown =
      format === 'pem' ? { pem: text } : format === 'jwk' ? { jwk: JSON.parse(text) } : {}
    const key = await showKey(folder, agent)
    await io.out(jsonLine('key', { ...key, openssh, ...shown, ...(isSecret ? { secret } : {}) }))
  } else await io.out(secret ?? text)
  return 0
}

function formatOf(format: unknown = 'openssh'): KeyFormat | 'did' {
  if (format === 'openssh' || format === 'pem' || format === 'jwk' || format === 'did')
    return format
  throw new UsageError('--format is openssh, pem, jwk or did')
}

function secretOf(
  io: Io,
  agent: string,
  format: KeyFormat | 'did',
  options: GlobalOptions,
): Promise<string> {
  if (format !== 'did')
    return exportSecretKey(keysFolder(io, options), agent, format, passphraseOf(io, options))
  throw new UsageError('a did is public: --secret goes with openssh, pem and jwk')
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
