import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { cardPath } from '../resident/card.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Verbs that are as well done by another process of the same user: none changes who is trusted, none goes on and on. */
const askable: ReadonlySet<string> = new Set([
  'blame',
  'diff',
  'get',
  'heads',
  'inbox',
  'log',
  'may-act',
  'put',
  'resume',
  'show',
  'status',
])

/** What reads a secret, accepts a store, or goes on as long as somebody writes. */
const ownOptions = /^--(?:passphrase-file|genesis|batch)(?:=|$)/

/** A path that means another file in each process. */
const ownPath = /(?:^|\/)(?:dev|proc)(?:\/|$)/

/** As many links as Linux follows for a path. */
const maxLinks = 40

/** Returns whether a command line can be left to another process. */
export function isAskable(argv: readonly string[], env: Env): boolean {
  if (!askable.has(argv[0] ?? '') || filled(env['HSTORE_PASSPHRASE']) !== undefined) return false
  return !argv.some((word) => ownOptions.test(word) || ownPath.test(word))
}

/**
 * Returns whether a path means another file in each process, by its name or over a link on the way.
 *
 * @param plain - Paths that were found to be no links.
 */
function isOwn(path: string, plain: Set<string>): boolean {
  let rest = path.split('/').filter((part) => part !== '')
  let at = '/'
  for (let links = 0; rest.length > 0;) {
    const [part = '', ...more] = rest
    const next = join(at, part)
    if (ownPath.test(next)) return true
    const target = linkAt(next, plain)
    rest = target === undefined ? more : [...target.split('/').filter((one) => one !== ''), ...more]
    at = target === undefined ? next : target.startsWith('/') ? '/' : at
    if (target !== undefined && ++links > maxLinks) return true
  }
  return false
}

function linkAt(path: string, plain: Set<string>): string | undefined {
  if (plain.has(path)) return undefined
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    return readlinkSync(path)
  plain.add(path)
  return undefined
}

/** Whatever may be a path in a command line, without the name of its option. */
function pathsIn(argv: readonly string[], cwd: string): string[] {
  return argv.slice(1).map((word) => resolve(cwd, word.replace(/^--[a-z-]+=/, '')))
}

/** Where a command line is looked at from, and the card of the process that serves its store, if one does. */
export interface Where {
  readonly cwd: string
  readonly card: string
}

/**
 * Returns where the store's card would be. The program reads a command line more strictly: which store is opened, and
 * with whose keys, is for the process that answers to find out.
 */
export function whereOf(argv: readonly string[], env: Env): Where | undefined {
  try {
    const cwd = process.cwd()
    const keys = keysOf(argv, env, cwd)
    const store = storeOf(optionOf(argv, '--store') ?? filled(env['HSTORE_STORE']), cwd)
    if (keys === undefined || store === undefined) return undefined
    const plain = new Set<string>()
    if ([cwd, keys, store, ...pathsIn(argv, cwd)].some((path) => isOwn(path, plain)))
      return undefined
    return { cwd, card: cardPath(keys, store) }
  } catch {
    // what is wrong the program tells
    return undefined
  }
}

function keysOf(argv: readonly string[], env: Env, cwd: string): string | undefined {
  const named = optionOf(argv, '--keys') ?? filled(env['HSTORE_KEYS'])
  if (named !== undefined) return resolve(cwd, named)
  const home = filled(env['HOME']) ?? filled(env['USERPROFILE'])
  const data = filled(env['XDG_DATA_HOME']) ?? (home && join(home, '.local', 'share'))
  return data && join(data, 'hstore', 'keys')
}

function storeOf(named: string | undefined, cwd: string): string | undefined {
  if (named !== undefined) {
    const folder = resolve(cwd, named)
    const inner = join(folder, '.hstore')
    return !isStore(folder) && isStore(inner) ? inner : folder
  }
  for (let at = cwd; ; at = dirname(at)) {
    const folder = join(at, '.hstore')
    if (isStore(folder)) return folder
    if (dirname(at) === at) return undefined
  }
}

function isStore(folder: string): boolean {
  return existsSync(join(folder, 'config.json')) || existsSync(join(folder, 'db'))
}

function optionOf(argv: readonly string[], name: string): string | undefined {
  const at = argv.findLastIndex((word) => word === name || word.startsWith(`${name}=`))
  return argv[at] === name ? argv[at + 1] : argv[at]?.slice(name.length + 1)
}

function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}
