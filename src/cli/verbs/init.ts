import { HandoffError } from '../../errors.ts'
import { init as makeStore } from '../../init-verb.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import {
  hintOfForm,
  keysFolder,
  namedAgent,
  namedStore,
  newPassphraseOf,
  passphraseOf,
  sshAgentOf,
  waitMs,
  warnOfPassphraseFile,
} from '../settings.ts'

/** `hstore init`: makes a store, prints its genesis CID. */
export const init: Verb = async (io, _args, options) => {
  const agent = namedAgent(io, options)
  if (agent === undefined) {
    throw new HandoffError(
      'HSTORE_AGENT_NEEDED',
      'whose store is it? name the agent with --as AGENT or HSTORE_AGENT',
    )
  }
  const report = await makeStore({
    store: namedStore(io, options),
    cwd: io.cwd,
    keys: keysFolder(io, options),
    agent,
    machine: io.machine,
    waitMs: waitMs(options),
    noPassphrase: options['passphrase'] === false,
    passphrase: passphraseOf(io, options),
    newPassphrase: newPassphraseOf(io, options),
    sshAgent: sshAgentOf(io),
  })
  await warnOfPassphraseFile(io, options, agent)
  await io.out(options.json === true ? jsonLine('init', report) : `${report.genesis}\n`)
  hintOfForm(io, agent)
  io.err(`${plain(`store ${report.store} of ${report.agent} (${report.did})`)}\n`)
  return 0
}
