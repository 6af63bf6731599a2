import { stat } from 'node:fs/promises'
import path from 'node:path'
import { HandoffError } from '../errors.ts'
import { quoted } from '../kernel/shown.ts'
import type { Remote } from './remotes.ts'
import { absoluteUrl } from './transport.ts'

const namedAtMost = 10

/**
 * Returns the remote that a word means: a name, an address, or a folder; without one, the only remote, or `origin`.
 *
 * @throws {HandoffError} `HSTORE_REMOTE_UNKNOWN` when it is none of them.
 */
export async function findRemote(
  all: readonly Remote[],
  given: string | undefined,
  cwd: string,
): Promise<Remote> {
  if (given === undefined) return onlyRemote(all)
  const url = absoluteUrl(given, cwd)
  const known = all.find(({ name }) => name === given) ?? all.find((one) => one.url === url)
  if (known !== undefined) return known
  // what is written as a path or an address is no name that was mistyped
  const isWord = !/[/\\]/.test(given) && path.isAbsolute(url)
  const isAbsent = isWord && (await stat(url).catch(() => undefined)) === undefined
  if (!isAbsent) return { name: given, url }
  const message = `there is no remote and no folder ${quoted(given)}: ${namesOf(all)}`
  throw new HandoffError('HSTORE_REMOTE_UNKNOWN', message)
}

function onlyRemote(all: readonly Remote[]): Remote {
  const [only, ...more] = all
  const found = more.length === 0 ? only : all.find(({ name }) => name === 'origin')
  if (found !== undefined) return found
  throw new HandoffError(
    'HSTORE_REMOTE_UNKNOWN',
    only === undefined
      ? 'the store has no remote: name one, or add one with hstore remote add'
      : `with which remote? ${all.map(({ name }) => name).join(', ')}`,
  )
}

function namesOf(all: readonly Remote[]): string {
  if (all.length === 0) return 'the store has no remote, hstore remote add adds one'
  const names = all.slice(0, namedAtMost).map(({ name }) => name)
  const rest = all.length > namedAtMost ? ' and more' : ''
  return `the remotes are ${names.join(', ')}${rest}; hstore remote add adds one`
}
