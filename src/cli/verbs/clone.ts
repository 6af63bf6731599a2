import path from 'node:path'
import { cloneStore, signerOf } from '../../sync-verbs.ts'
import { progressLine } from '../progress-line.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import {
  keysFolder,
  namedAgent,
  namedStore,
  passphraseOf,
  sshAgentOf,
  sshOf,
  waitMs,
} from '../settings.ts'

/** `hstore clone`: makes a store out of another. */
export const clone: Verb = async (io, [source = ''], options) => {
  const line = progressLine(io, options)
  const report = await cloneStore(source, {
    folder: path.resolve(io.cwd, namedStore(io, options) ?? '.hstore'),
    cwd: io.cwd,
    keysFolder: keysFolder(io, options),
    waitMs: waitMs(options),
    genesis: options.genesis,
    agent: namedAgent(io, options),
    nowMs: Date.now(),
    onProgress: line.show,
    ssh: sshOf(io),
    signer: signerOf({
      agent: namedAgent(io, options),
      keys: keysFolder(io, options),
      passphrase: passphraseOf(io, options),
      sshAgent: sshAgentOf(io),
    }),
    confirm: async (genesis) => {
      const answer = await io.ask(
        `The store's genesis is ${genesis}. Is this what its owner says? (yes/no) `,
      )
      return answer === 'yes'
    },
  }).finally(line.end)
  await io.out(options.json === true ? jsonLine('clone', report) : `${report.genesis}\n`)
  io.err(`${plain(`store ${report.store} with ${report.entries} entries, rosters among them`)}\n`)
  if (report.unstored > 0)
    io.err(`hstore: ${report.unstored} entries of it have no right: hstore sync names them\n`)
  return 0
}
