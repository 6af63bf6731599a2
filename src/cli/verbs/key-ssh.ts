import type { RosterShown } from '../../roster/rosters.ts'
import { formatRosterSigners, verifySshSignature } from '../../ssh-signature.ts'
import { readInput } from '../input.ts'
import type { Io } from '../io.ts'
import type { GlobalOptions, Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

/** `hstore key signers`: prints the roster's keys as an allowed_signers file. */
export const keySigners: Verb = async (io, _args, options) => {
  await using store = await openNamed(io, options)
  const text = formatRosterSigners(await store.rosters.show())
  await io.out(options.json === true ? jsonLine('key', { allowedSigners: text }) : text)
  return 0
}

/** `hstore key verify`: checks a file's SSH signature by the roster, or by an allowed_signers file. */
export const keyVerify: Verb = async (io, [file = '', signature = '', principal = ''], options) => {
  const signed = {
    file: await readInput(io, file),
    signature: await readInput(io, signature),
    principal,
    namespace: (options['namespace'] as string | undefined) ?? 'file',
  }
  const given = options['allowedSigners'] as string | undefined
  const verified = verifySshSignature(
    signed,
    given === undefined
      ? { roster: await rosterOf(io, options) }
      : { allowedSigners: await readInput(io, given), nowMs: Date.now() },
  )
  for (const warning of verified.warnings) io.err(`hstore: warning: ${plain(warning)}\n`)
  const { did, namespace } = verified
  const line = plain(`good ${namespace} signature by ${principal} with ${did}`)
  await io.out(options.json === true ? jsonLine('key', verified) : `${line}\n`)
  return 0
}

async function rosterOf(io: Io, options: GlobalOptions): Promise<RosterShown> {
  await using store = await openNamed(io, options)
  return await store.rosters.show()
}
