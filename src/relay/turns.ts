import type { Context } from '../context.ts'
import type { TurnDraft } from '../contracts/turns/draft.ts'
import { factsOfTurn } from '../contracts/turns/turn-facts.ts'
import type { RelayFile, TurnReport, TurnRules } from '../contracts/turns/validate.ts'
import { validateTurns } from '../contracts/turns/validate.ts'
import { copyBytes } from '../kernel/bytes.ts'
import { assertArgument, assertBytes } from '../kernel/errors.ts'
import { SerialQueue } from '../kernel/serial-queue.ts'
import type { Putter } from '../put/put-queue.ts'
import type { AppendReport } from './append.ts'
import { appendToRelay } from './append.ts'
import type { ExportedRelay } from './export.ts'
import { exportRelay, filesOf, unknownRelay } from './export.ts'
import type { GivenFiles, RelayFiles } from './files.ts'
import type { ImportReport } from './import.ts'
import { importRelay } from './import.ts'
import { judgeTurns } from './judge-turns.ts'
import type { LoggedTurn } from './log.ts'
import { logTurns } from './log.ts'
import type { RelayState, StatedNote } from './state.ts'
import { assertSound, readState } from './state.ts'

/** The relay's file that a turn is written into too, and what it holds or what reads that. */
export interface AppendInto {
  readonly path: string
  readonly files: GivenFiles
}

/** The relays of a store. What changes one goes one after the other, so that none is built on what another changes. */
export class Turns {
  readonly #find: () => Promise<Putter>
  readonly #open: () => Promise<Context>
  readonly #queue = new SerialQueue()

  /**
   * @param find - Unlocks the key and opens the store, in this order.
   * @param open - Opens the store.
   */
  constructor(find: () => Promise<Putter>, open: () => Promise<Context>) {
    this.#find = find
    this.#open = open
  }

  /**
   * Takes a relay's files in as what is called `relay` in the store; throws what `importRelay` throws.
   *
   * @param files - The files; for files that others write, what reads them, which is called once the store is held.
   */
  async import(
    relay: string,
    files: GivenFiles,
    parents?: readonly string[],
  ): Promise<ImportReport> {
    assertArgument('relay', relay, 'string')
    if (typeof files !== 'function') assertArgument('files', files, 'object')
    if (parents !== undefined) assertArgument('parents', parents, 'object')
    const given = readerOf(files)
    return this.#queue.run(async () => {
      const { context, ...author } = await this.#find()
      return importRelay(context, relay, await given(), author, parents)
    })
  }

  /** Appends a turn to a relay, and to its file where one is named; throws what `appendToRelay` throws. */
  async append(
    relay: string,
    draft: TurnDraft,
    into?: AppendInto,
    parents?: readonly string[],
  ): Promise<AppendReport> {
    assertArgument('relay', relay, 'string')
    assertArgument('draft', draft, 'object')
    for (const key of ['agent', 'to', 'at'] as const) {
      assertArgument(`draft.${key}`, draft[key], 'string')
    }
    if (parents !== undefined) assertArgument('parents', parents, 'object')
    if (into !== undefined) assertArgument('into', into, 'object')
    if (into !== undefined) assertArgument('into.path', into.path, 'string')
    if (into !== undefined && typeof into.files !== 'function') {
      assertArgument('into.files', into.files, 'object')
    }
    const given = into && { path: into.path, read: readerOf(into.files) }
    return this.#queue.run(async () => {
      const { context, ...author } = await this.#find()
      const held = given && { path: given.path, files: await given.read() }
      return appendToRelay(context, relay, draft, author, held, parents)
    })
  }

  /** Returns a relay's files as they were at the last import; throws what `exportRelay` throws. */
  async export(relay: string): Promise<ExportedRelay> {
    assertArgument('relay', relay, 'string')
    return exportRelay(await this.#open(), relay)
  }

  /** Returns the turns of a relay, the last first; throws what `readState` throws. */
  async log(relay: string): Promise<readonly LoggedTurn[]> {
    return logTurns(await this.#known(relay))
  }

  /**
   * Returns the verdict of the stage-4 contract on a relay as it was at the last import; its `advisories` end with what
   * the rules over the graph say. Throws what `exportRelay` and `validateTurns` throw.
   *
   * @param all - Judge the archive too.
   */
  async validate(relay: string, rules: TurnRules = {}, all = false): Promise<TurnReport> {
    const { chain, note, places } = await this.#known(relay)
    assertSound(chain)
    const { living, archive } = filesOf(
      note,
      places.map((place) => chain[place]!),
    )
    const report = validateTurns(
      { bytes: living, name: relay },
      archive === undefined || !all ? undefined : { bytes: archive, name: relay },
      rules,
    )
    const turns = chain.map(({ behind, entry, turn }) => ({
      cid: entry.cid,
      behind,
      facts: factsOfTurn(turn),
    }))
    const more = await judgeTurns(await this.#open(), turns)
    return { ...report, advisories: [...report.advisories, ...more] }
  }

  async #known(relay: string): Promise<RelayState & { readonly note: StatedNote }> {
    assertArgument('relay', relay, 'string')
    const { note, ...state } = await readState(await this.#open(), relay)
    if (note === undefined) throw unknownRelay(relay)
    return { ...state, note }
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.#queue.settled()
  }
}

/** Files that are given are read at once, since the caller may change its buffers while the call waits for its turn. */
function readerOf(files: GivenFiles): () => Promise<RelayFiles> {
  if (typeof files === 'function') return async () => copyOf(await files())
  const given = copyOf(files)
  return async () => given
}

function copyOf({ living, archive }: RelayFiles): RelayFiles {
  return { living: copy('living', living), archive: archive && copy('archive', archive) }
}

function copy(name: keyof RelayFiles, file: RelayFile): RelayFile {
  assertArgument(`files.${name}`, file, 'object')
  assertArgument(`files.${name}.name`, file.name, 'string')
  assertBytes(`files.${name}.bytes`, file.bytes)
  return { bytes: copyBytes(file.bytes), name: file.name }
}
