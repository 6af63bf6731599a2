import path from 'node:path'
import { writeNewFile } from '../../durable-file.ts'
import { HandoffError } from '../../errors.ts'
import type { ProofReport } from '../../proof/report.ts'
import { checkProof } from '../../proof/report.ts'
import { readInput } from '../input.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { GlobalOptions, Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { namedStore, openNamed } from '../settings.ts'

/** `hstore proof show`: what a store can prove against a name. */
export const proofShow: Verb = async (io, [ref = ''], options) => {
  await using store = await openNamed(io, options)
  const proofs = await store.proofs.show(ref)
  if (options.json === true) await io.out(jsonLine('proof-show', { proofs }))
  else await io.out(proofs.map(text).join('\n'))
  if (proofs.length === 0)
    io.err('hstore: this store holds nothing that gives the name another meaning\n')
  return proofs.some(({ exit }) => exit === 0) ? 0 : 1
}

/** `hstore proof export`: the two entries in a file. */
export const proofExport: Verb = async (io, [ref = ''], options) => {
  const out = options['out'] as string | undefined
  if (out === undefined && options.json === true)
    throw new UsageError('--json needs --out: the proof itself goes to stdout')
  await using store = await openNamed(io, options)
  const file = await store.proofs.export(ref)
  if (out === undefined) await io.out(file)
  else await writeNewFile(path.resolve(io.cwd, out), file)
  if (options.json === true) await io.out(jsonLine('proof-export', { ref, out, size: file.length }))
  return 0
}

/** `hstore proof check`: checks a proof, with or without a store. */
export const proofCheck: Verb = async (io, [file = ''], options) => {
  const bytes = await readInput(io, file)
  const report = await checked(io, bytes, options)
  await io.out(options.json === true ? jsonLine('proof-check', report) : text(report))
  return report.exit
}

async function checked(io: Io, bytes: Uint8Array, options: GlobalOptions): Promise<ProofReport> {
  const alone = checkProof(bytes)
  const { genesis } = options
  if (genesis !== undefined && genesis !== alone.genesis) {
    throw new HandoffError(
      'HSTORE_GENESIS_MISMATCH',
      `the proof speaks of the store ${alone.genesis}, not of ${genesis}`,
      { details: { genesis: alone.genesis } },
    )
  }
  try {
    await using store = await openNamed(io, options)
    return await store.proofs.check(bytes)
  } catch (error) {
    // nothing was named, and nothing is there to ask
    const isNone = error instanceof HandoffError && error.code === 'HSTORE_STORE_MISSING'
    if (isNone && namedStore(io, options) === undefined) return alone
    throw error
  }
}

function text({ proves, why, genesis, stream, kind, name, entries, resolve }: ProofReport): string {
  const lines = [
    proves === null
      ? `proves nothing: ${why}`
      : `${proves}${why === '' ? '' : ` (not settled: ${why})`}`,
    `name:   ${name} (${kind} in ${stream})`,
    `store:  ${genesis}`,
    ...entries.map(
      ({ cid, author, signer, body, standing }) =>
        `entry:  ${cid} by ${author} with ${signer}, body ${body}${standing === null ? '' : `, ${standing}`}`,
    ),
    ...resolve.map((way) => `remedy: ${way}`),
  ]
  return `${lines.map(plain).join('\n')}\n`
}
