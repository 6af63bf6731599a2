import type { VerifiedEntry } from '../entry/entry.ts'
import { isJudged, kindOf } from '../entry/kinds.ts'
import { mayRepeat } from '../kernel/repeats.ts'
import { bounded } from '../kernel/shown.ts'
import type { LaneKind } from '../lanes/bodies.ts'
import { isLaneKind, nameOf, readLaneBody } from '../lanes/bodies.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'
import type { Trust } from '../trust/standing.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { EnvelopeFacts } from './body.ts'
import type { BodyFacts, CertificateFacts, LoadedGraph } from './loaded.ts'
import { isPassedOver } from './judge-standings.ts'
import { cyclicNodes } from './cyclic-nodes.ts'
import { NodeTable, nodesOf } from './nodes.ts'
import { claimedTurns } from './turn-identity.ts'

/** Returns where entries do not fit their bodies, their chains and their parents. */
export function judgeEntries(graph: LoadedGraph, trust: Trust): Finding[] {
  const findings: Finding[] = []
  const claimed = claimedTurns(graph, trust)
  for (const entry of graph.entries.values()) {
    if (graph.before.has(entry.cid) || isPassedOver(trust, entry)) continue
    findings.push(
      ...(claimed.has(entry.cid) ? [] : judgeBody(graph, trust, entry)),
      ...judgeChain(graph, entry),
      ...judgeParents(graph, entry),
    )
  }
  return findings
}

function judgeBody(graph: LoadedGraph, trust: Trust, entry: VerifiedEntry): Finding[] {
  const { cid } = entry
  if (!isJudged(entry.kind))
    return [finding('HS3014', `${entry.kind} is not judged by this version`, { cid })]
  const body = graph.bodies.get(entry.body)
  if (body === undefined) return [] // named as damage where it was read
  const findings: Finding[] = []
  if (isLaneKind(entry.kind)) return judgeLaneBody(entry, entry.kind, body)
  if (body.kind !== entry.kind) {
    const fault = body.kind === 'other' ? body.fault : undefined
    findings.push(
      finding(
        entry.kind === 'roster' ? 'HS2008' : 'HS4001',
        `the body of this ${entry.kind} ${fault ?? 'is of another kind'}`,
        {
          cid: entry.body,
        },
      ),
    )
  }
  return [...findings, ...judgeFacts(trust, entry, body), ...judgeSource(graph, entry)]
}

function judgeLaneBody(
  { body: at, cid, name, stream }: VerifiedEntry,
  kind: LaneKind,
  facts: BodyFacts,
): Finding[] {
  const body =
    facts.kind === 'lane' ? readLaneBody(kind, facts.form) : { fault: 'is of another kind' }
  if ('fault' in body)
    return [finding('HS4001', `the body of this ${kind} ${body.fault}`, { cid: at })]
  const findings: Finding[] = []
  const called = nameOf(body)
  if (called !== name) {
    const message = `the entry is named ${name ?? ''}, its body ${called ?? ''}`
    findings.push(finding('HS3001', message, { cid }))
  }
  if (`lane:${body.lane_id}` !== stream) {
    const message = `the lane ${bounded(body.lane_id)} of its body belongs to another stream`
    findings.push(finding('HS3002', message, { cid }))
  }
  return findings
}

/** Returns where an entry is at odds with its body. */
function judgeFacts(trust: Trust, entry: VerifiedEntry, body: BodyFacts): Finding[] {
  const { cid, name } = entry
  const odd = (code: string, message: string): Finding[] => [finding(code, message, { cid })]
  switch (body.kind) {
    case 'envelope':
      return judgeEnvelope(trust, entry, body.facts)
    case 'roster':
      if (String(body.version) === name) return []
      return odd('HS3001', `the entry says version ${name}, its body ${body.version}`)
    case 'certificate':
      return judgeCertificate(trust, entry, body)
    case 'freeze':
      if (body.key === entry.signer) return []
      return odd('HS4001', `the freeze is of ${body.key}, and its signer is another key`)
    case 'turn': {
      const { agent } = body.facts
      return judgeMaker(trust, entry, `the agent ${bounded(agent)} of its markers`, agent)
    }
    case 'relay':
      if (entry.refs.join() === (body.head ?? '')) return []
      return odd('HS4001', 'the relay note is on another turn than its entry')
    default:
      return []
  }
}

function judgeSource(graph: LoadedGraph, { source, body }: VerifiedEntry): Finding[] {
  if (source === undefined || !graph.sources.has(source) || graph.sources.get(source) === body) {
    return []
  }
  return [finding('HS4002', 'the file as given does not normalise to the body', { cid: source })]
}

/** Of an agent that the roster does not know nothing is known, its names neither. */
function isKnown(trust: Trust, { signer }: VerifiedEntry): boolean {
  return trust.findKey(signer) !== undefined
}

function judgeCertificate(trust: Trust, entry: VerifiedEntry, body: CertificateFacts): Finding[] {
  const { cid, signer } = entry
  const odd = (message: string): Finding[] => [finding('HS4001', message, { cid })]
  if (!attests(entry, body))
    return odd('the certificate is of another agent or other heads than its entry')
  if (body.level === 'file' || trust.findKey(signer)?.key.level !== 'file') return []
  return odd('the certificate claims the level agent for a key that the roster has as file')
}

function attests(entry: VerifiedEntry, { agent, heads }: CertificateFacts): boolean {
  return agent === entry.author && heads.join() === entry.refs.join()
}

function judgeEnvelope(trust: Trust, entry: VerifiedEntry, facts: EnvelopeFacts): Finding[] {
  const { cid } = entry
  const findings: Finding[] = []
  if (facts.revision !== entry.name) {
    findings.push(
      finding('HS3001', `the entry is named ${entry.name}, its body ${facts.revision}`, { cid }),
    )
  }
  if (`csag:${facts.id}` !== entry.stream) {
    findings.push(
      finding('HS3002', `the envelope's id ${facts.id} belongs to another stream`, { cid }),
    )
  }
  return [
    ...findings,
    ...judgeMaker(trust, entry, `created_by ${facts.createdBy}`, facts.createdBy),
  ]
}

/** @param said - What the document says of its maker. */
function judgeMaker(trust: Trust, entry: VerifiedEntry, said: string, maker: string): Finding[] {
  const { cid, author } = entry
  if (entry.witness) {
    const message = `${author} vouches for the bytes; that ${bounded(maker)} made them is not claimed`
    return [finding('HS3015', message, { cid })]
  }
  if (!isKnown(trust, entry) || trust.isNameOf(author, maker)) return []
  return [finding('HS2007', `${said} is no name of ${author}`, { cid })]
}

function judgeChain(graph: LoadedGraph, entry: VerifiedEntry): Finding[] {
  const { cid } = entry
  const prev = entry.prev
    .map((link) => graph.entries.get(link))
    .filter((found) => found !== undefined)
  const foreign = prev.find(
    ({ signer, stream }) => signer !== entry.signer || stream !== entry.stream,
  )
  if (foreign !== undefined) {
    return [
      finding('HS3004', `prev names ${foreign.cid}, which is not of this signer and stream`, {
        cid,
      }),
    ]
  }
  const wanted = 1 + Math.max(0, ...prev.map(({ seq }) => seq))
  if (prev.length < entry.prev.length || wanted === entry.seq) return []
  return [finding('HS3003', `seq is ${entry.seq}, prev makes it ${wanted}`, { cid })]
}

function judgeParents(graph: LoadedGraph, entry: VerifiedEntry): Finding[] {
  const { cid } = entry
  const parents = entry.parents
    .map((link) => graph.entries.get(link))
    .filter((found) => found !== undefined)
  const odd = parents.find(({ kind, stream }) => stream !== entry.stream || !kindOf(kind).isNode)
  if (odd !== undefined)
    return [finding('HS3005', `${odd.cid} is no node of ${entry.stream}`, { cid })]
  const body = graph.bodies.get(entry.body)
  if (
    entry.kind !== 'envelope' ||
    body?.kind !== 'envelope' ||
    parents.length < entry.parents.length
  )
    return []
  const named = [...new Set(parents.map(({ name }) => name ?? '')), ...entry.shallow].sort()
  const wanted = [...new Set(body.facts.parents)].sort()
  const fits = named.length === wanted.length && named.every((name, i) => name === wanted[i])
  return fits
    ? []
    : [
        finding(
          'HS3006',
          `links and shallow names give ${told(named)}, the envelope ${told(wanted)}`,
          { cid },
        ),
      ]
}

const told = (names: readonly string[]): string =>
  names.length === 0 ? 'no parents' : names.join(', ')

/** Returns the nodes that are ancestors of each other: none of them can be resumed. */
export function judgeCycles(graph: LoadedGraph): Finding[] {
  return cyclicNodes(new NodeTable(graph.entries)).map(({ entry: { cid, name } }) => {
    return finding('HS3007', `${name ?? cid} is an ancestor of itself`, { cid })
  })
}

/** Returns where one signer's chain splits: what a second clone or a restored backup makes, never an accusation. */
export function judgeChainForks(graph: LoadedGraph): Finding[] {
  // links that are named once, as nearly all are, are no forks: they need no key
  const mayFork = mayRepeat(linksIn(graph), 2 * graph.entries.size)
  const followers = new Map<string, number>()
  for (const { signer, stream, prev } of graph.entries.values()) {
    for (const link of prev.length === 0 ? [''] : prev.filter(mayFork)) {
      const key = `${signer} ${stream} ${link}`
      followers.set(key, (followers.get(key) ?? 0) + 1)
    }
  }
  return [...followers]
    .filter(([, count]) => count > 1)
    .map(([key, count]) => {
      const [signer, ...rest] = key.split(' ')
      return finding(
        'HS3011',
        `the chain of ${signer} splits in ${count} after ${rest.at(-1) || 'its start'}`,
      )
    })
}

function* linksIn(graph: LoadedGraph): Generator<CidText> {
  for (const { prev } of graph.entries.values()) yield* prev
}

/** Returns equivocations and collisions among valid envelopes that are no witness entries. */
export function judgeNames(entries: Iterable<VerifiedEntry>, trust: Trust): Finding[] {
  const groups = new Map<string, VerifiedEntry[]>()
  for (const entry of entries) {
    if (entry.kind !== 'envelope' || entry.witness) continue
    if (trust.standingOf(entry).standing !== 'valid') continue
    const key = `${entry.stream}\u0000${entry.name}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return [...groups.values()]
    .filter((group) => group.length > 1)
    .flatMap((group) => judgeNamesakes(group))
}

function judgeNamesakes(group: readonly VerifiedEntry[]): Finding[] {
  const documents = nodesOf(group).map(({ entry }) => entry)
  const byAuthor = new Map<string, VerifiedEntry[]>()
  for (const entry of documents) {
    byAuthor.set(entry.author, [...(byAuthor.get(entry.author) ?? []), entry])
  }
  const findings = [...byAuthor.values()]
    .filter((own) => own.length > 1)
    .map((own) => {
      const cids = own.map(({ cid }) => cid).sort()
      const { author, name } = own[0]!
      const message = `${author} gave ${name} ${own.length} documents: ${cids.join(', ')}`
      return finding('HS3009', message, { cid: cids[0]! })
    })
  if (byAuthor.size > 1 && new Set(documents.map(({ body }) => body)).size > 1) {
    const cids = documents.map(({ cid }) => cid).sort()
    const message = `${documents[0]!.name} is the name of ${cids.join(', ')}`
    findings.push(finding('HS3010', message, { cid: cids[0]! }))
  }
  return findings
}
