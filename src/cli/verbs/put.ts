import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { HandoffError } from '../../errors.ts'
import { HstoreError } from '../../kernel/errors.ts'
import type { PutItem } from '../../open-store.ts'
import { openSourceBundle } from '../../source-bundle.ts'
import { GatheredOutput } from '../gathered-output.ts'
import { isStream, readInput } from '../input.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import { linesOf } from '../lines.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

type Options = Parameters<Verb>[2]

/** `hstore put`: puts each file, or each line of a batch; prints each entry's CID once it is on disk. */
export const put: Verb = async (io, files, options) => {
  if (files.filter((file) => file === '-').length > 1)
    throw new UsageError('- stands for stdin, once')
  await using store = await openNamed(io, options)
  const given = new Given(io, files, options)
  const output = new GatheredOutput(io)
  try {
    for await (const report of store.putAll(given.items())) {
      const name = given.next()
      await output.add(options.json === true ? jsonLine('put', report) : `${report.cid}\n`)
      if (report.new && report.warnings.length === 0) continue
      // on a terminal a note stands behind the line that it is about
      await output.flush()
      for (const warning of report.warnings) io.err(`hstore: warning: ${plain(warning)}\n`)
      if (!report.new) io.err(`hstore: ${plain(name)} was there already\n`)
    }
  } catch (error) {
    throw named(error, given)
  } finally {
    await output.flush()
  }
  return 0
}

/** What the command line gives to put, and how far it has come. */
class Given {
  readonly #io: Io
  readonly #files: readonly string[]
  readonly #options: Options
  /** Names of what was read and has no report yet. */
  readonly #underWay: string[] = []
  #read = 0
  #bundle: string | undefined

  constructor(io: Io, files: readonly string[], options: Options) {
    this.#io = io
    this.#files = files
    this.#options = options
  }

  /** Reads one after the other, when it is asked for. */
  async *items(): AsyncGenerator<PutItem> {
    for (const file of this.#files) {
      this.#read += 1
      if (this.#options['batch'] === true) yield* this.#lines(file)
      else {
        this.#underWay.push(file)
        const input = await readInput(this.#io, file)
        yield { input, options: await this.#optionsOf(file) }
      }
    }
  }

  async *#lines(file: string): AsyncGenerator<PutItem> {
    let options: PutItem['options']
    for await (const { number, bytes } of linesOf(this.#io, file)) {
      this.#underWay.push(`${file}:${number}`)
      options ??= await this.#optionsOf(file)
      yield { input: bytes, options }
    }
    if (options !== undefined) return
    this.#underWay.push(file)
    throw new HandoffError('HSTORE_INPUT_UNREADABLE', `${file}: has no line with an envelope`)
  }

  async #optionsOf(file: string): Promise<NonNullable<PutItem['options']>> {
    const { parent, shallow } = this.#options
    const parents = parent as readonly string[] | undefined
    return { bundle: await this.#bundleOf(file), parents, shallow: shallow === true }
  }

  /** Returns the name of what is reported next. */
  next(): string {
    return this.#underWay.shift() ?? ''
  }

  /** Returns the name of what failed: what came before it has its report. */
  get failed(): string | undefined {
    return this.#underWay[0]
  }

  /** Files that nothing is stored of. */
  get notTried(): readonly string[] {
    const begun = this.#options['batch'] === true ? [] : this.#underWay.slice(1)
    return [...begun, ...this.#files.slice(this.#read)]
  }

  /** The files of an envelope are beside it, wherever a link to it stands. */
  async #bundleOf(file: string): Promise<string> {
    const bundle = this.#options['bundle'] as string | undefined
    if (bundle !== undefined) {
      this.#bundle ??= await folderOf(path.resolve(this.#io.cwd, bundle))
      return this.#bundle
    }
    if (await isStream(this.#io, file)) return this.#io.cwd
    return path.dirname(await realpath(path.resolve(this.#io.cwd, file)))
  }
}

/** What is said to be a bundle has to be one, also where no envelope asks for it. */
async function folderOf(bundle: string): Promise<string> {
  await openSourceBundle(bundle)
  return bundle
}

/** Faults of the key, the store or what is accepted for it: no other file would fare better. */
const ofNoFile =
  /^HSTORE_(?:AGENT|CONFIG|GENESIS|KEY|PASSPHRASE|ROSTER|SIGNER|STORE|TRUST|VERSION)_/

/** Returns the error with the file in front, and how many behind it were not tried. */
function named(error: unknown, { failed: file, notTried: rest }: Given): unknown {
  if (!(error instanceof HstoreError) || file === undefined) return error
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
