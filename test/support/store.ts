import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Level } from 'level'
import { afterAll } from 'vitest'
import { findHolder } from '../../store/holder.ts'
import { leaveWord, takeWordBack } from '../../store/wanted.ts'
import type { Ran, RunOptions } from './cli.ts'
import { runCli } from './cli.ts'
import { envelopeOf } from './envelope.ts'
import { historyFiles } from './history.ts'

/** The agents of every test store; the merger made it and is its root. */
export const agents = {
  a: 'csag:agent/agent-a',
  b: 'csag:agent/agent-b',
  merger: 'csag:agent/merger',
} as const

/** A store with keys of its own, in a folder of its own. */
export interface TestStore {
  /** The folder around store and keys. */
  readonly root: string
  /** The store. */
  readonly store: string
  readonly keys: string
  readonly genesis: string
  /** The environment that names store and keys, and no home. */
  readonly env: Readonly<Record<string, string>>
  /** Runs a command line on it in this process, as the merger unless told otherwise. */
  run(...argv: string[]): Promise<Ran>
  /** Like `run`, with more of the world. */
  runWith(options: RunOptions, ...argv: string[]): Promise<Ran>
}

/** Returns a new empty folder that is removed when the test file has ended; for use outside a running test. */
export async function makeSharedFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'hstore-')))
  afterAll(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Returns a store below `root` as it is, made or not. */
export function storeAt(root: string, genesis: string): TestStore {
  const store = path.join(root, 'store')
  const keys = path.join(root, 'keys')
  const env = { HSTORE_STORE: store, HSTORE_KEYS: keys, HOME: path.join(root, 'home') }
  return {
    root,
    store,
    keys,
    genesis,
    env,
    run: (...argv) => runCli(argv, { cwd: root, env }),
    runWith: (options, ...argv) =>
      runCli(argv, { cwd: root, ...options, env: { ...env, ...options.env } }),
  }
}

/** Makes a store whose root is the merger, with keys of all three agents that the roster knows. */
export async function makeTestStore(root: string): Promise<TestStore> {
  await mkdir(root, { recursive: true })
  const bare = storeAt(root, '')
  const made = await ok(bare.run('init', '--as', agents.merger, '--no-passphrase'))
  for (const agent of [agents.a, agents.b]) {
    const did = (await ok(bare.run('key', 'new', agent, '--no-passphrase'))).out.trim()
    await ok(bare.run('roster', 'add', agent, did))
  }
  return storeAt(root, made.out.trim())
}

/** Puts the worked example and returns the entries' CIDs in the order of `historyFiles`. */
export async function putHistory(store: TestStore): Promise<readonly string[]> {
  const cids: string[] = []
  for (const { file, agent, fork } of historyFiles) {
    const parent = fork ? ['--parent', cids[0]!] : []
    cids.push((await ok(store.run('put', file, '--as', agent, ...parent))).out.trim())
  }
  return cids
}

/** Puts a chain of small envelopes into a stream, all in one go. */
export async function putChain(store: TestStore, workspace: string, length: number): Promise<void> {
  const lines = Array.from({ length }, (_, i) => {
    const parents = i === 0 ? [] : [`R${i - 1}`]
    const small = { workspace, revision: `R${i}`, author: agents.merger, parents }
    return `${JSON.stringify(envelopeOf(small))}\n`
  })
  const file = path.join(store.root, 'chain.jsonl')
  await writeFile(file, lines.join(''))
  await ok(store.run('put', '--batch', file))
}

/** Returns a copy of a store with its keys, in a new folder. */
export async function copyStore(from: TestStore, root: string): Promise<TestStore> {
  await cp(from.root, root, { recursive: true })
  return storeAt(root, from.genesis)
}

/** Returns what a run left when it went well, and fails the test with its words when not. */
export async function ok(running: Promise<Ran>): Promise<Ran> {
  const ran = await running
  if (ran.exit === 0) return ran
  throw new Error(`exit ${ran.exit}: ${ran.err}${ran.out}`)
}

/** Returns the object that `--json` printed. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows what it asked for
export function json<T = Record<string, unknown>>({ out }: Ran): T {
  return JSON.parse(out) as T
}

/** Opens a store's LevelDB behind hstore's back for as long as `use` takes. */
export async function withLevel<T>(
  store: string,
  use: (level: Level<string, Uint8Array>) => Promise<T>,
): Promise<T> {
  // a server in this process keeps its store open for a moment
  for (; findHolder(store) !== undefined; await sleep(5)) leaveWord(store)
  takeWordBack(store)
  const level = await openLevel(path.join(store, 'db'))
  try {
    return await use(level)
  } finally {
    await level.close()
  }
}

/** A process that serves the store may be about to close it. */
async function openLevel(location: string): Promise<Level<string, Uint8Array>> {
  for (let tries = 0; ; tries++) {
    const level = new Level<string, Uint8Array>(location, { valueEncoding: 'view' })
    try {
      await level.open()
      return level
    } catch (error) {
      const { code } = (error as { cause?: { code?: string } }).cause ?? {}
      if (code !== 'LEVEL_LOCKED' || tries === 200) throw error
      await sleep(25)
    }
  }
}

/** Returns a digest of what a store holds: every row of the database, every artifact and the configuration. */
export async function digestOf(store: string): Promise<string> {
  const hash = createHash('sha256')
  await withLevel(store, async (level) => {
    for await (const [key, value] of level.iterator()) hash.update(key).update('\n').update(value)
  })
  for (const file of ['config.json', ...(await filesIn(path.join(store, 'artifacts')))]) {
    hash.update(file).update(await readFile(path.resolve(store, file)))
  }
  for (const file of await filesIn(path.join(store, 'tmp'))) hash.update(file)
  return hash.digest('hex')
}

/** Returns the absolute paths of all files below a folder, sorted; none where it is not there. */
export async function filesIn(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return found
    .filter((item) => item.isFile())
    .map((item) => path.join(item.parentPath, item.name))
    .sort()
}
