import { stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findStream } from './graph/stream-names.ts'
import type { Head } from './log.ts'
import { openStore } from './open-store.ts'
import { folderOf } from './store-folder.ts'
import type { OpenStoreOptions } from './store-options.ts'

/** What is watched, and until when. */
export interface WatchOptions extends OpenStoreOptions {
  /** One stream; all when absent. The family may be left out where the rest is unique. */
  readonly stream?: string | undefined
  /** Called once where nothing has the stream's name yet. */
  readonly onAbsent?: ((name: string) => void) | undefined
  /** How long to wait before looking again whether something was added, in ms; 250 when absent. */
  readonly intervalMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Yields heads that were not there before, as they arrive, whoever brings them. The store is opened only when something
 * was added: what reached the disk is told by the list beside the database.
 *
 * @throws {HandoffError} what `openStore` and `heads` throw; `HSTORE_REF_AMBIGUOUS` for `stream`.
 */
export async function* watchHeads(options: WatchOptions): AsyncGenerator<Head> {
  const { intervalMs = 250, onAbsent, signal, stream } = options
  const list = path.join(folderOf(options), 'acknowledged')
  const meant = new Meant(stream)
  let seenSize = await sizeOf(list)
  let known = await headsIn(options, meant)
  if (stream !== undefined && !meant.isThere) onAbsent?.(stream)
  for (;;) {
    if (isOver(signal)) return
    await sleep(intervalMs, undefined, { signal }).catch(() => undefined)
    const size = await sizeOf(list)
    if (size === seenSize || isOver(signal)) continue
    seenSize = size
    const heads = await headsIn(options, meant)
    for (const [cid, head] of heads) if (!known.has(cid)) yield head
    known = heads
  }
}

function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

/** What is watched: all, or one stream from when it is there on. */
class Meant {
  readonly #name: string | undefined
  #stream: string | undefined

  constructor(name: string | undefined) {
    this.#name = name
  }

  get isThere(): boolean {
    return this.#stream !== undefined
  }

  among(heads: readonly Head[]): readonly Head[] {
    if (this.#name === undefined) return heads
    const streams = heads.map(({ stream }) => stream)
    this.#stream ??= findStream(streams, this.#name)
    return heads.filter(({ stream }) => stream === this.#stream)
  }
}

async function headsIn(options: WatchOptions, meant: Meant): Promise<ReadonlyMap<string, Head>> {
  await using store = await openStore(options)
  const heads = meant.among(await store.heads())
  return new Map(heads.map((head) => [head.entry.cid, head]))
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0
}
