/** What the format fixes for a kind of entry. See docs/format.md, «Kinds». */
export interface Kind {
  /** Nodes form the graph and can be heads; notes hang on nodes and move no head. */
  readonly isNode: boolean
  /** The family of stream that it stands in; undefined for any. */
  readonly family: string | undefined
  /** Whether `name` is there: what the body calls itself. */
  readonly isNamed: boolean
  /** Whether another's document may be vouched for. */
  readonly mayWitness: boolean
}

function kind(family: string | undefined, ...traits: ('node' | 'named' | 'witness')[]): Kind {
  return {
    family,
    isNode: traits.includes('node'),
    isNamed: traits.includes('named'),
    mayWitness: traits.includes('witness'),
  }
}

const kinds: ReadonlyMap<string, Kind> = new Map([
  ['envelope', kind('csag', 'node', 'named', 'witness')],
  ['turn', kind('m8', 'node', 'witness')],
  ['relay', kind('m8')],
  ['lane-open', kind('lane', 'node', 'named')],
  ['lane-status', kind('lane', 'node')],
  ['lane-commit', kind('lane', 'node', 'named')],
  ['lane-takeover', kind('lane', 'node', 'named')],
  ['lane-join', kind('lane', 'node')],
  ['proposal', kind('lane')],
  ['withdraw', kind('lane')],
  ['decline', kind('lane')],
  ['signal', kind('lane')],
  ['ack', kind('lane')],
  ['receipt', kind('log')],
  ['certificate', kind('log')],
  ['freeze', kind('roster')],
  ['roster', kind('roster', 'node', 'named')],
  ['erasure', kind(undefined)],
])
const unknown = kind(undefined)

/** Returns what holds for a kind; an unknown one is a note that may stand in any stream. */
export function kindOf(name: string): Kind {
  return kinds.get(name) ?? unknown
}

/** The kinds whose bodies this version judges; all others are carried and shown as not judged. */
const judged: ReadonlySet<string> = new Set([
  'envelope',
  'roster',
  'freeze',
  'certificate',
  'turn',
  'relay',
  ...[...kinds.keys()].filter((name) => kinds.get(name)!.family === 'lane'),
])

/** Returns whether this version knows the body's schema. */
export function isJudged(name: string): boolean {
  return judged.has(name)
}

/** Returns the family of a stream: what stands before its first colon, or the whole name. */
export function familyOf(stream: string): string {
  const colon = stream.indexOf(':')
  return colon < 0 ? stream : stream.slice(0, colon)
}

/**
 * Returns what makes entries one node: in a csag stream the author's document, of turns the same text behind the same
 * entries of a stream, elsewhere the entry itself.
 */
export function nodeKey(entry: {
  readonly cid: string
  readonly kind: string
  readonly body: string
  readonly author: string
  readonly parents: readonly string[]
  readonly stream: string
}): string {
  const { author, body, cid, kind, parents, stream } = entry
  if (kind === 'envelope') return `${body} ${author}`
  return kind === 'turn' ? [body, ...parents, stream].join(' ') : cid
}

/** Returns whether several entries of a kind may be one node. */
export function mayBeRestated(kind: string): boolean {
  return kind === 'envelope' || kind === 'turn'
}
