import path from 'node:path'
import { isCidText } from '../../store/cid-text.ts'
import { unpackBlock } from '../../store/packed-block.ts'
import type { TestStore } from './store.ts'
import { filesIn, withLevel } from './store.ts'

/** A link as it stands in a block. */
interface Link {
  readonly '/': string
}

/** An entry's payload as it stands in a block; read with plain JSON, apart from hstore's own code. */
export interface RawPayload {
  readonly artifacts?: Link
  readonly author: string
  readonly body: Link
  readonly kind: string
  readonly name?: string
  readonly parents: readonly Link[]
  readonly prev: readonly Link[]
  readonly signer: string
  readonly source?: Link
  readonly stream: string
}

/** What lies in a store: blocks by CID, unpacked, rows by key, artifact files by CID. */
export interface RawStore {
  readonly blocks: ReadonlyMap<string, Uint8Array>
  readonly rows: ReadonlyMap<string, Uint8Array>
  /** Absolute paths. */
  readonly files: ReadonlyMap<string, string>
}

/** Returns all that lies in a store. */
export async function readRaw({ store }: TestStore): Promise<RawStore> {
  const blocks = new Map<string, Uint8Array>()
  const rows = new Map<string, Uint8Array>()
  await withLevel(store, async (level) => {
    for await (const [key, value] of level.iterator()) {
      const cid = key.startsWith('!blocks!') ? key.slice('!blocks!'.length) : undefined
      if (isCidText(cid)) blocks.set(cid, unpackBlock(cid, value)!.slice())
      else rows.set(key, value.slice())
    }
  })
  const files = new Map<string, string>()
  for (const file of await filesIn(path.join(store, 'artifacts')))
    files.set(path.basename(file), file)
  return { blocks, rows, files }
}

/** Returns the payload of an entry's block, or undefined for another block. */
export function payloadIn(bytes: Uint8Array): RawPayload | undefined {
  const text = Buffer.from(bytes).toString()
  return text.startsWith('{"payload":')
    ? (JSON.parse(text) as { payload: RawPayload }).payload
    : undefined
}

/** Returns the CIDs of the entries that `wanted` says yes to. */
export function entriesIn(
  { blocks }: RawStore,
  wanted: (payload: RawPayload) => boolean,
): readonly string[] {
  return [...blocks].flatMap(([cid, bytes]) => {
    const payload = payloadIn(bytes)
    return payload !== undefined && wanted(payload) ? [cid] : []
  })
}

/** Returns all that an entry rests on, itself included: entries, bodies, files as given, lists and artifacts. */
export function closureIn({ blocks }: RawStore, start: string): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [start]
  for (let cid = open.pop(); cid !== undefined; cid = open.pop()) {
    if (found.has(cid)) continue
    found.add(cid)
    const bytes = blocks.get(cid)
    const payload = bytes === undefined ? undefined : payloadIn(bytes)
    if (payload === undefined) continue
    const { artifacts, body, parents, prev, source } = payload
    for (const link of [artifacts, body, source, ...parents, ...prev]) {
      if (link !== undefined) open.push(link['/'])
    }
    const list = artifacts === undefined ? undefined : blocks.get(artifacts['/'])
    if (list === undefined) continue
    const links = JSON.parse(Buffer.from(list).toString()) as { artifacts: readonly Link[] }
    open.push(...links.artifacts.map((link) => link['/']))
  }
  return found
}
