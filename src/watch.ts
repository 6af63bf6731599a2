import { stat } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Head } from './log.ts'
import { openStore } from './open-store.ts'
import { folderOf } from './store-folder.ts'
import type { OpenStoreOptions } from './store-options.ts'

/** What is watched, and until when. */
export interface WatchOptions extends OpenStoreOptions {
  readonly stream?: string | undefined
  /** How long to wait before looking again whether something was added, in ms; 250 when absent. */
  readonly intervalMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Yields heads that were not there before, as they arrive, whoever brings them. The store is opened only when something
 * was added: what reached the disk is told by the list beside the database.
 *
 * @throws {HandoffError} what `openStore` and `heads` throw.
 */
export async function* watchHeads(options: WatchOptions): AsyncGenerator<Head> {
  const { intervalMs = 250, signal, stream } = options
  const list = path.join(folderOf(options), 'acknowledged')
  let seenSize = await sizeOf(list)
  let known = await headsIn(options, stream)
  for (;;) {
    if (isOver(signal)) return
    await sleep(intervalMs, undefined, { signal }).catch(() => undefined)
    const size = await sizeOf(list)
    if (size === seenSize || isOver(signal)) continue
    seenSize = size
    const heads = await headsIn(options, stream)
    for (const [cid, head] of heads) if (!known.has(cid)) yield head
    known = heads
  }
}

function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

async function headsIn(
  options: WatchOptions,
  stream: string | undefined,
): Promise<ReadonlyMap<string, Head>> {
  await using store = await openStore(options)
  const heads = await store.heads()
  const meant = heads.filter((head) => stream === undefined || head.stream === stream)
  return new Map(meant.map((head) => [head.entry.cid, head]))
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0
}
