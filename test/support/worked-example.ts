import type { Json } from './second-implementation.ts'
import { bytes, canonical, cid, entryBlock, keyOf, link, seeds } from './second-implementation.ts'

/** One block of the worked example in docs/format.md. */
export interface ExampleBlock {
  readonly name: string
  readonly codec: 'dag-json' | 'raw'
  readonly cid: string
  readonly text: string
}

type JsonMap = { [key: string]: Json }

const root = keyOf(seeds.one)
const other = keyOf(seeds.two)
const agent = 'csag:agent/agent-a'
const workspace = 'csag:handoff/harbour'
const nonce = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex')

/** Returns the blocks of the worked example in the order of the page, made from the values in this file alone. */
export function workedExample(): readonly ExampleBlock[] {
  const agents = [agentOf(agent, [], root.did)]
  const genesis = block('genesis', rosterBody(0, { nonce: bytes(nonce), prev: null }, agents))
  const put = (name: string, payload: JsonMap): ExampleBlock => entry(name, genesis.cid, payload)
  const genesisEntry = put('genesis entry', rosterEntry(genesis, '0', []))
  const artifact = raw('artifact', 'date,metres\n2026-03-14,1.482\n')
  const list = block('list', { artifacts: [link(artifact.cid)] })
  const source = raw('source', givenFile(artifact))
  const envelope = block('envelope', JSON.parse(source.text) as Json)
  const first = put('envelope entry', {
    artifacts: link(list.cid),
    body: link(envelope.cid),
    name: revision('R0001'),
    source: link(source.cid),
  })
  const certificate = block('certificate', certificateBody(first, genesis))
  const attested = put('certificate entry', {
    body: link(certificate.cid),
    kind: 'certificate',
    refs: [link(first.cid)],
    stream: `log:${root.did}`,
  })
  const next = block('next envelope', nextBody(artifact))
  const second = put('next envelope entry', {
    artifacts: link(list.cid),
    body: link(next.cid),
    name: revision('R0002'),
    parents: [link(first.cid)],
    prev: [link(first.cid)],
    seq: 2,
    refs: [link(attested.cid)],
    shallow: [revision('R0000')],
  })
  agents.push(agentOf('csag:agent/agent-b', ['bee'], other.did))
  const roster = block('roster', rosterBody(1, { prev: link(genesis.cid) }, agents))
  const accepted = put('roster entry', rosterEntry(roster, '1', [link(genesisEntry.cid)]))
  return [
    genesis,
    genesisEntry,
    artifact,
    list,
    source,
    envelope,
    first,
    certificate,
    attested,
    next,
    second,
    roster,
    accepted,
  ]
}

function entry(name: string, store: string, payload: JsonMap): ExampleBlock {
  const common = {
    author: agent,
    kind: 'envelope',
    parents: [],
    prev: [],
    roster: link(store),
    seq: 1,
    signer: root.did,
    store: link(store),
    stream: `csag:${workspace}`,
    v: 1,
  }
  const text = entryBlock({ ...common, ...payload }, root)
  return { name, codec: 'dag-json', cid: cid('dag-json', text), text }
}

function rosterEntry({ cid }: ExampleBlock, version: string, before: Json[]): JsonMap {
  return {
    author: root.did,
    body: link(cid),
    kind: 'roster',
    name: version,
    stream: 'roster',
    parents: before,
    prev: before,
    seq: before.length + 1,
  }
}

function rosterBody(version: number, more: JsonMap, agents: Json[]): Json {
  return {
    ...more,
    agents,
    format: 1,
    roots: [{ did: root.did, holder: agent }],
    threshold: 1,
    version,
  }
}

function agentOf(id: string, aliases: string[], did: string): Json {
  const grants = [{ kinds: ['*'], streams: ['*'] }]
  return { aliases, id, keys: [{ did, grants, level: 'file', machine: 'pier' }], read: ['*'] }
}

function certificateBody(first: ExampleBlock, roster: ExampleBlock): Json {
  const made = 'blocks signatures trust equivocation history contract artifacts attribution'.split(
    ' ',
  )
  return {
    agent,
    checks: [...made.map((name) => ({ name, result: 'ok' })), { name: 'lane', result: 'not made' }],
    freezes: [],
    heads: [link(first.cid)],
    level: 'file',
    roster: link(roster.cid),
    shallow: [],
    verdict: 'complete',
  }
}

/** A file as people write it: other order of keys, white space, a number in another spelling. */
function givenFile(artifact: ExampleBlock): string {
  return `{
  "envelope_version": "1.0.0",
  "id": "${workspace}",
  "revision": "${revision('R0001')}",
  "current_heads": ["${revision('R0001')}"],
  "created_by": "${agent}",
  "created_on": "2026-03-14T09:00:00Z",
  "source_artifacts": [
    ${JSON.stringify(record(artifact)).replace('"byte_size":29', '"byte_size":2.9e1')}
  ]
}
`
}

function nextBody(artifact: ExampleBlock): Json {
  return {
    envelope_version: '1.0.0',
    id: workspace,
    revision: revision('R0002'),
    parents: [revision('R0001'), revision('R0000')],
    current_heads: [revision('R0002')],
    created_by: agent,
    created_on: '2026-03-15T09:00:00Z',
    source_artifacts: [record(artifact)],
  }
}

function record({ text, cid: address }: ExampleBlock): Json {
  return {
    id: 'csag:artifact/levels',
    artifact_path: 'levels.csv',
    artifact_role: 'dataset',
    sha256: digestOf(address),
    byte_size: Buffer.byteLength(text),
  }
}

/** The digest that a raw CID carries: what is left of its bits after the four bytes of its header. */
function digestOf(address: string): string {
  const values = Array.from(address.slice(1), (character) =>
    'abcdefghijklmnopqrstuvwxyz234567'.indexOf(character).toString(2).padStart(5, '0'),
  )
  const bits = values.join('').slice(32, 288)
  return BigInt(`0b${bits}`).toString(16).padStart(64, '0')
}

function revision(name: string): string {
  return `${workspace}/revision/${name}`
}

function raw(name: string, text: string): ExampleBlock {
  return { name, codec: 'raw', cid: cid('raw', text), text }
}

function block(name: string, value: Json): ExampleBlock {
  const text = canonical(value)
  return { name, codec: 'dag-json', cid: cid('dag-json', text), text }
}
