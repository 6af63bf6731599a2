import type { Entries } from '../entry/entry-table.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Finding } from '../rules/rule.ts'
import type { TurnFacts } from '../contracts/turns/turn-facts.ts'
import type { EnvelopeFacts, FormMap } from './body.ts'

/** What a body turned out to be. */
export type BodyFacts =
  | { readonly kind: 'envelope'; readonly facts: EnvelopeFacts }
  /** The version, and the cuts that close its grants. */
  | { readonly kind: 'roster'; readonly version: number; readonly cuts: readonly CidText[] }
  | { readonly kind: 'cut' }
  /** The key that freezes itself. */
  | { readonly kind: 'freeze'; readonly key: string }
  | CertificateFacts
  | { readonly kind: 'turn'; readonly facts: TurnFacts }
  /** The entry of the last turn. */
  | { readonly kind: 'relay'; readonly head: CidText | undefined }
  /** Of a lane: read as the entry's kind wants it, since two kinds may have the same bytes. */
  | { readonly kind: 'lane'; readonly form: FormMap }
  | { readonly kind: 'other'; readonly fault?: string }

/** Whom a certificate names, and the entries that it judged. */
export interface CertificateFacts {
  readonly kind: 'certificate'
  readonly agent: string
  readonly heads: readonly CidText[]
  readonly level: 'file' | 'agent'
}

/** What bodies say, by CID. */
export interface Bodies {
  get(cid: CidText): BodyFacts | undefined
  has(cid: CidText): boolean
}

/** Lists of artifacts, by the CIDs of the lists. */
export interface Lists {
  get(cid: CidText): readonly CidText[] | undefined
  has(cid: CidText): boolean
}

/** How the bytes of an artifact were found. */
export type ArtifactState = 'ok' | 'missing' | 'corrupt'

/** Entries and what they rest on, read, hashed and with signatures checked; the ground that the judges work on. */
export interface LoadedGraph {
  /** Entries whose blocks and signatures stand. */
  readonly entries: Entries
  /** Bodies read. */
  readonly bodies: Bodies
  /** Artifact lists read. */
  readonly lists: Lists
  readonly artifacts: ReadonlyMap<CidText, ArtifactState>
  /** For each `source` read, the body that it normalises to. */
  readonly sources: ReadonlyMap<CidText, CidText | undefined>
  /** Entries not read again: an earlier certificate of this agent covers them. */
  readonly before: ReadonlySet<CidText>
  /** What is damaged, missing or does not stand. */
  readonly damage: readonly Finding[]
  readonly counts: Counts
}

/** How much was looked at. */
export interface Counts {
  entries: number
  blocks: number
  signatures: number
  artifacts: number
}
