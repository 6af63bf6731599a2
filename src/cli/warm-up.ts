/*
 * Runs when the program is built: does what users do most, in a folder that goes again, and keeps the code that V8 has
 * made of the program by then. node warm-up.js PROGRAM EXAMPLES
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Io } from './io.ts'
import { keepCode, load } from './load.ts'

const [program = '', examples = ''] = process.argv.slice(2)
const agent = 'csag:agent/agent-a'

const folder = mkdtempSync(path.join(tmpdir(), 'hstore-warm-up-'))
try {
  const { main } = load(program) as {
    readonly main: (argv: readonly string[], io: Io) => Promise<number>
  }
  for (const argv of lines()) await main(argv, quietIo())
  keepCode()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function lines(): readonly (readonly string[])[] {
  const execution = path.join(folder, 'execution.json')
  const ids = { execution_id: 'run', root_execution_id: 'run', authority_lane_id: 'lane' }
  const owner = { authority_owner_ref: agent, actor_ref: agent, authority_epoch: 1 }
  writeFileSync(execution, JSON.stringify({ ...ids, ...owner }))
  return [
    ['init', '--as', agent, '--no-passphrase'],
    ['put', path.join(examples, 'r0001.json')],
    ['lane', 'open', 'lane'],
    ...['get', 'resume'].map((verb) => [verb, 'csag:handoff/tide-gauge']),
    ['may-act', '--execution', execution],
  ]
}

function quietIo(): Io {
  const none = async (): Promise<undefined> => undefined
  return {
    out: () => undefined,
    err: () => undefined,
    stdin: async () => new Uint8Array(0),
    ask: none,
    askSecret: none,
    cwd: folder,
    env: { HSTORE_KEYS: path.join(folder, 'keys') },
    machine: 'warm-up',
  }
}
