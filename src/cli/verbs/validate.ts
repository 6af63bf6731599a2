import { stat } from 'node:fs/promises'
import path from 'node:path'
import { HandoffError } from '../../errors.ts'
import type { Validated } from '../../validate.ts'
import {
  makeReport,
  reportLines,
  validateFile,
  validateUnreadable,
  writeReport,
} from '../../validate.ts'
import { isStream, readInput } from '../input.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { GlobalOptions, Verb } from '../program.ts'
import { escaped, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

/** `hstore validate`: upstream's verdict, report and exit code. */
export const validate: Verb = async (io, [target = ''], options) => {
  if (options['profile'] !== undefined && options['profile'] !== 'handoff') {
    throw new UsageError('--profile is handoff')
  }
  const out = options['reportOut'] as string | undefined
  if (out === '-')
    throw new UsageError('--report-out names a file: --json writes the report to stdout')
  const bundle = options['bundle'] as string | undefined
  const { judgement, envelope, guarded } = await judge(io, target, bundle, options)
  if (out !== undefined) {
    await writeReport(path.resolve(io.cwd, out), judgement, envelope, await guarded())
  }
  if (options.json === true) {
    // in a store paths are those of the bundle
    const isStored = envelope === undefined && judgement.input === undefined
    await io.out(
      `${escaped(JSON.stringify(makeReport(judgement, isStored ? '/' : io.cwd, envelope)))}\n`,
    )
  } else {
    for (const line of reportLines(judgement)) await io.out(`${plain(line)}\n`)
    for (const { code, message } of judgement.advisories)
      io.err(`hstore: ${code}: ${plain(message)}\n`)
  }
  return judgement.ok ? 0 : 1
}

/** A file where there is one, else a REF where a store is at hand. */
async function judge(
  io: Io,
  target: string,
  bundle: string | undefined,
  options: GlobalOptions,
): Promise<Validated> {
  const folder = bundle === undefined ? undefined : path.resolve(io.cwd, bundle)
  const isStdin = await isStream(io, target)
  const file = isStdin ? '/dev/stdin' : path.resolve(io.cwd, target)
  if (!isStdin && (await stat(file).catch(() => undefined)) === undefined) {
    const missing = `${target}: ${isLikeRef(target) ? 'is neither a file nor a REF here' : 'there is no such file'}`
    return (await judgeRef(io, target, options)) ?? validateUnreadable(missing, file)
  }
  try {
    const bytes = await readInput(io, target)
    return await (isStdin
      ? validateFile(bytes, undefined, folder ?? io.cwd)
      : validateFile(bytes, file, folder))
  } catch (error) {
    const isUnread = error instanceof HandoffError && error.code === 'HSTORE_INPUT_UNREADABLE'
    if (isUnread) return validateUnreadable(error.message, file)
    throw error
  }
}

/** A stream or revision has a colon, a CID begins as all of ours do. */
function isLikeRef(target: string): boolean {
  return target.includes(':') || /^ba[a-z2-7]{8,}$/.test(target)
}

async function judgeRef(
  io: Io,
  ref: string,
  options: GlobalOptions,
): Promise<Validated | undefined> {
  try {
    await using store = await openNamed(io, options)
    return await store.validate(ref)
  } catch (error) {
    const isNoRef =
      error instanceof HandoffError &&
      ['HSTORE_REF_NOT_FOUND', 'HSTORE_STORE_MISSING'].includes(error.code)
    if (isNoRef) return undefined
    throw error
  }
}
