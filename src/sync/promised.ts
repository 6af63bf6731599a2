import type { JsonForm } from '../../store/canonical.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { digestOf } from '../../store/cid-text.ts'
import type { Database } from '../../store/database.ts'
import { decodeEntry } from '../entry/decode.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { Arrivals } from './arrivals.ts'
import type { Fate } from './fate.ts'
import { judgeArrivals } from './judge.ts'
import type { Peer } from './peer.ts'

/** How large the artifacts are that entries in quarantine wait for, by the documents that name them. */
export class PromisedSizes {
  readonly #arrivals: Arrivals
  /** Many artifacts of one document are asked for in turn. */
  #last: { readonly body: CidText; readonly sizes: ReadonlyMap<string, number> } | undefined

  constructor(arrivals: Arrivals) {
    this.#arrivals = arrivals
  }

  /**
   * Returns what the document of an entry says.
   *
   * @param entry - One that has a right: it waits for its blocks alone.
   * @returns Undefined where it says nothing.
   */
  async find(
    db: Pick<Database, 'getMany'>,
    entry: CidText,
    artifact: CidText,
  ): Promise<number | undefined> {
    const bytes = this.#arrivals.find(entry)
    if (bytes === undefined) return undefined
    const { body } = decodeEntry(entry, bytes)
    if (this.#last?.body !== body) {
      const [read] = this.#arrivals.has(body) ? [] : await db.getMany([body])
      const document = read?.state === 'ok' ? read.bytes : this.#arrivals.find(body)
      this.#last = { body, sizes: document === undefined ? new Map() : sizesIn(document) }
    }
    return this.#last.sizes.get(Buffer.from(digestOf(artifact)).toString('hex'))
  }
}

/** Returns what an entry that waits and has a right says of an artifact that it needs; undefined where none does. */
export async function promisedSize(
  { db, ground }: Peer,
  arrivals: Arrivals,
  artifact: CidText,
): Promise<number | undefined> {
  const { fates } = await judgeArrivals(ground, arrivals)
  const promised = new PromisedSizes(arrivals)
  for (const [cid, fate] of fates) {
    const size = waitsFor(fate, artifact) ? await promised.find(db, cid, artifact) : undefined
    if (size !== undefined) return size
  }
  return undefined
}

/** Rights are judged before blocks are missed. */
function waitsFor(fate: Fate, artifact: CidText): boolean {
  return fate.fate === 'incomplete' && fate.needs.includes(artifact)
}

function sizesIn(document: Uint8Array): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>()
  try {
    const open: JsonForm[] = [decodeForm(document).form]
    for (let form = open.pop(); form !== undefined; form = open.pop()) {
      if (form === null || typeof form !== 'object') continue
      const { sha256, byte_size: size } = form as { readonly [key: string]: JsonForm }
      if (typeof sha256 === 'string' && Number.isSafeInteger(size) && !sizes.has(sha256))
        sizes.set(sha256, size as number)
      for (const item of Object.values(form)) open.push(item)
    }
  } catch (error) {
    if (!(error instanceof HstoreError)) throw error
  }
  return sizes
}
