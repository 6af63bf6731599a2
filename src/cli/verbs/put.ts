import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { HstoreError } from '../../kernel/errors.ts'
import type { Store } from '../../open-store.ts'
import type { PutReport } from '../../reports.ts'
import { isStream, readInput } from '../input.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

/** `hstore put`: puts each file, prints each entry's CID once it is on disk. */
export const put: Verb = async (io, files, options) => {
  if (files.filter((file) => file === '-').length > 1)
    throw new UsageError('- stands for stdin, once')
  await using store = await openNamed(io, options)
  for (const [i, file] of files.entries()) {
    const report = await putFile(io, store, file, options).catch((error: unknown) => {
      throw named(error, file, files.slice(i + 1))
    })
    await io.out(options.json === true ? jsonLine('put', report) : `${report.cid}\n`)
    for (const warning of report.warnings) io.err(`hstore: warning: ${plain(warning)}\n`)
    if (!report.new) io.err(`hstore: ${plain(file)} was there already\n`)
  }
  return 0
}

async function putFile(
  io: Io,
  store: Store,
  file: string,
  options: Parameters<Verb>[2],
): Promise<PutReport> {
  const bytes = await readInput(io, file)
  return store.put(bytes, {
    bundle: await bundleOf(io, file, options['bundle'] as string | undefined),
    shallow: options['shallow'] === true,
    parents: options['parent'] as readonly string[] | undefined,
  })
}

/** The files of an envelope are beside it, wherever a link to it stands. */
async function bundleOf(io: Io, file: string, bundle: string | undefined): Promise<string> {
  if (bundle !== undefined) return path.resolve(io.cwd, bundle)
  if (await isStream(io, file)) return io.cwd
  return path.dirname(await realpath(path.resolve(io.cwd, file)))
}

/** Faults of the key, the store or what is accepted for it: no other file would fare better. */
const ofNoFile =
  /^HSTORE_(?:AGENT|CONFIG|GENESIS|KEY|PASSPHRASE|ROSTER|SIGNER|STORE|TRUST|VERSION)_/

/** Returns the error with the file in front, and how many behind it were not tried. */
function named(error: unknown, file: string, rest: readonly string[]): unknown {
  if (!(error instanceof HstoreError)) return error
  const { code, details } = error
  const isNamed = ofNoFile.test(code) || error.message.startsWith(`${file}: `)
  const words = isNamed ? error.message : `${file}: ${error.message}`
  return new HstoreError(code, words + untried(rest.length), {
    cause: error,
    details: {
      ...details,
      ...(ofNoFile.test(code) ? {} : { path: file }),
      ...(rest.length > 0 ? { notTried: rest } : {}),
    },
  })
}

function untried(count: number): string {
  if (count === 0) return ''
  return count === 1
    ? '; the file behind it was not tried'
    : `; the ${count} files behind it were not tried`
}
