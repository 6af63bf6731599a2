import type { JsonForm } from '../../store/canonical.ts'
import { encodeForm, findLink, linkForm } from '../../store/canonical.ts'
import type { Block } from '../../store/block.ts'
import { HashedBlock } from '../../store/block.ts'
import type { CidText, Codec } from '../../store/cid-text.ts'
import { codecOf } from '../../store/cid-text.ts'
import { StoreError } from '../../store/errors.ts'
import { HandoffError } from '../errors.ts'

/** A large artifact in a CAR: raw blocks that joined are its bytes. */
export interface LargeArtifact {
  readonly artifact: CidText
  /** In order; equal pieces are named again and stand in the file once. */
  readonly pieces: readonly CidText[]
}

/** What a CAR of hstore holds. See docs/format.md, «CAR files». */
export interface Manifest {
  /** How many blocks stand between the manifest and the pieces of large artifacts. */
  readonly blocks: number
  readonly genesis: CidText
  /** Sorted by artifact. */
  readonly large: readonly LargeArtifact[]
  /** The entries from which all others in the file are reached over `parents` and `prev`; sorted. */
  readonly tips: readonly CidText[]
}

/** Size of the pieces of a large artifact, the last one apart, in bytes. */
export const pieceBytes: number = 1024 * 1024

/** Returns the root block of a CAR; throws `HSTORE_INPUT_TOO_LARGE` where it would be more than a block holds. */
export function manifestBlock({ blocks, genesis, large, tips }: Manifest): Block {
  const form: JsonForm = {
    blocks,
    export: 1,
    genesis: linkForm(genesis),
    large: large.map(({ artifact, pieces }) => ({
      artifact: linkForm(artifact),
      pieces: pieces.map(linkForm),
    })),
    tips: tips.map(linkForm),
  }
  try {
    return HashedBlock.of(encodeForm(form), 'dag-json')
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause
    const message = 'this is more than one file can name: export streams one by one'
    throw new HandoffError('HSTORE_INPUT_TOO_LARGE', message, { cause })
  }
}

type Form = { readonly [key: string]: JsonForm }

/** Returns the manifest that a decoded block holds, or undefined when it is none. */
export function findManifest(form: Form): Manifest | undefined {
  const { blocks, export: version, genesis, large, tips } = form
  const store = findLink(genesis)
  const artifacts = largeOf(large)
  const starts = linksOf(tips, 'dag-json')
  const isOurs = version === 1 && typeof blocks === 'number' && Object.keys(form).length === 5
  if (!isOurs || store === undefined || artifacts === undefined) return undefined
  if (starts === undefined || starts.length === 0 || !ascends(starts)) return undefined
  return { blocks, genesis: store, large: artifacts, tips: starts }
}

function largeOf(form: JsonForm | undefined): readonly LargeArtifact[] | undefined {
  const found = Array.isArray(form) ? form.map(largeIn) : [undefined]
  const artifacts = found.filter((one) => one !== undefined)
  if (artifacts.length < found.length) return undefined
  return ascends(artifacts.map(({ artifact }) => artifact)) ? artifacts : undefined
}

function largeIn(form: JsonForm): LargeArtifact | undefined {
  if (typeof form !== 'object' || form === null || Array.isArray(form)) return undefined
  const { artifact, pieces } = form
  const cid = findLink(artifact)
  const links = linksOf(pieces, 'raw')
  if (Object.keys(form).length !== 2 || cid === undefined || codecOf(cid) !== 'raw')
    return undefined
  return links === undefined || links.length < 2 ? undefined : { artifact: cid, pieces: links }
}

function linksOf(form: JsonForm | undefined, codec: Codec): CidText[] | undefined {
  if (!Array.isArray(form)) return undefined
  const links = form.map((item) => findLink(item))
  const isSound = links.every((link) => link !== undefined && codecOf(link) === codec)
  return isSound ? (links as CidText[]) : undefined
}

function ascends(cids: readonly CidText[]): boolean {
  return cids.every((cid, i) => i === 0 || cids[i - 1]! < cid)
}
