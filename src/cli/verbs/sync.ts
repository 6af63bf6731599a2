import { syncStore } from '../../sync-verbs.ts'
import type { SyncReport } from '../../sync-verbs.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import { progressLine } from '../progress-line.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { namedAgent, openOptions, passphraseOf, sshAgentOf, sshOf } from '../settings.ts'

const shownAtMost = 10

/** `hstore sync`: exchanges entries with a remote, both ways. */
export const sync: Verb = async (io, [remote], options) => {
  const { pull, push } = options
  if (pull === true && push === true)
    throw new UsageError('--pull and --push are one way each: without either, sync goes both ways')
  const line = progressLine(io, options)
  const { exit, ...report } = await syncStore(remote, {
    ...openOptions(io, options),
    pull: push !== true,
    push: pull !== true,
    stream: options['stream'] as string | undefined,
    dryRun: options['dryRun'] === true,
    nowMs: Date.now(),
    onProgress: line.show,
    ssh: sshOf(io),
    agent: namedAgent(io, options),
    passphrase: passphraseOf(io, options),
    sshAgent: sshAgentOf(io),
  }).finally(line.end)
  if (options.json === true) await io.out(jsonLine('sync', report))
  else await tell(io, report, options['dryRun'] === true)
  return exit
}

async function tell(io: Io, report: Omit<SyncReport, 'exit'>, isDry: boolean): Promise<void> {
  const { ahead, behind, pulled, pushed, remote, unstored, untaken, vanished } = report
  const text = isDry
    ? `${behind} entries would come from ${remote}, ${ahead} would go there`
    : `${pulled} entries came from ${remote}, ${pushed} went there`
  await io.out(`${plain(text)}\n`)
  list(
    io,
    unstored.map(({ cid, fate, why }) => `${cid} from ${remote} is ${fate}: ${why}`),
  )
  list(
    io,
    untaken.map(({ cid, fate, why }) => `${remote} has not taken ${cid} (${fate}): ${why}`),
  )
  list(
    io,
    vanished.map(
      ({ cid, stream }) => `${remote} had ${cid} in ${stream}, and has it no more: it was set back`,
    ),
  )
}

function list(io: Io, lines: readonly string[]): void {
  for (const line of lines.slice(0, shownAtMost)) io.err(`hstore: ${plain(line)}\n`)
  const rest = lines.length - shownAtMost
  if (rest > 0) io.err(`hstore: and ${rest} more (--json has all)\n`)
}
