import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { init, newKeyFor, openStore } from '../index.ts'
import type { ResumeJson, Store } from '../index.ts'
import { plain } from './render.ts'

const bundle = fileURLToPath(new URL('../../../fixtures/history/bundle/', import.meta.url))
const merger = 'csag:agent/merger'
const history = [
  { file: 'r0001.json', agent: 'csag:agent/agent-a' },
  { file: 'r0002-agent-a.json', agent: 'csag:agent/agent-a' },
  { file: 'r0002-agent-b.json', agent: 'csag:agent/agent-b', forks: true },
  { file: 'r0003.json', agent: merger },
]
const stream = 'csag:handoff/tide-gauge'
const noPassphrase = async (): Promise<undefined> => undefined

function say(text: string): void {
  process.stdout.write(`${plain(text)}\n`)
}

function open(keys: string, store: string, agent: string): Promise<Store> {
  return openStore({ store, keys, agent })
}

/** Makes three keys and a store that trusts them. */
async function prepare(keys: string, store: string): Promise<void> {
  const made = await init({
    store,
    cwd: '.',
    keys,
    agent: merger,
    machine: hostname(),
    waitMs: 1000,
    noPassphrase: true,
    passphrase: noPassphrase,
  })
  say(`init         genesis ${made.genesis}`)
  await using root = await open(keys, store, merger)
  for (const agent of ['csag:agent/agent-a', 'csag:agent/agent-b']) {
    const { did } = await newKeyFor(keys, agent, true, noPassphrase)
    await root.addToRoster(agent, did, hostname())
    say(`roster add   ${agent} ${did}`)
  }
}

/** Puts the history from `folder`, each revision by its own agent. */
async function putAll(keys: string, store: string, folder: string): Promise<void> {
  let first: string | undefined
  for (const { file, agent, forks } of history) {
    await using mine = await open(keys, store, agent)
    const parents = forks === true && first !== undefined ? [first] : []
    const report = await mine.put(await readFile(path.join(folder, file)), {
      bundle: folder,
      parents,
    })
    first ??= report.cid
    say(
      `put          ${report.cid} ${report.revision} by ${agent}, ${report.artifacts.length} artifacts`,
    )
  }
}

function tell(report: ResumeJson): void {
  say(`resume       verdict ${report.verdict} (history ${report.history}), exit ${report.exit}`)
  for (const { code, severity, message, cid } of report.findings) {
    if (severity !== 'info') say(`             ${severity} ${code} ${cid ?? ''} ${message}`)
  }
  for (const { id, description } of report.actions)
    say(`             next for ${report.agent}: ${id}: ${description}`)
}

/** Changes one byte of the head's body in the database, as a hostile or failing disk would. */
async function changeOneByte(keys: string, store: string): Promise<void> {
  const mine = await open(keys, store, merger)
  const { body } = await mine.entry(stream)
  await mine.close()
  // oxlint-disable-next-line no-restricted-imports -- goes behind the store's back on purpose
  const { Level } = await import('level')
  const level = new Level<string, Uint8Array>(path.join(store, 'db'), { valueEncoding: 'view' })
  await level.open()
  const key = `!blocks!${body}`
  const bytes = Uint8Array.from((await level.get(key)) ?? [])
  const at = bytes.length >> 1
  bytes[at] = (bytes[at] ?? 0) ^ 1
  await level.put(key, bytes)
  await level.close()
  say(`one byte     of ${body} changed on disk`)
}

/** Runs the main job on the worked history, in a folder of its own that is gone afterwards. */
async function demo(): Promise<void> {
  const root = await mkdtemp(path.join(tmpdir(), 'hstore-demo-'))
  try {
    const keys = path.join(root, 'keys')
    const store = path.join(root, 'store')
    const folder = path.join(root, 'bundle')
    await cp(bundle, folder, { recursive: true })
    await prepare(keys, store)
    await putAll(keys, store, folder)
    {
      await using reader = await open(keys, store, 'csag:agent/agent-a')
      const { ok, checked } = await reader.verify()
      say(
        `verify       ${ok ? 'ok' : 'not ok'}: ${checked.entries} entries, ${checked.signatures} signatures, ${checked.artifacts} artifacts`,
      )
      tell(await reader.resume(stream))
    }
    await changeOneByte(keys, store)
    await using reader = await open(keys, store, 'csag:agent/agent-a')
    const report = await reader.resume(stream)
    tell(report)
    if (report.verdict !== 'unsafe') throw new Error('the gate let a changed byte through')
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

await demo()
