import type { Did } from '../../../keys/did-key.ts'
import { isDidKey } from '../../../keys/did-key.ts'
import { signerOfSeed } from '../../../keys/signer.ts'
import { decodeEntry } from '../../../src/entry/decode.ts'
import { seal } from '../../../src/entry/seal.ts'
import { findVerified } from '../../../src/entry/verify.ts'
import { findRelayNote, relayForm } from '../../../src/contracts/turns/relay-body.ts'
import { findTurn, turnForm } from '../../../src/contracts/turns/turn-body.ts'
import { makeTurn } from '../../../src/contracts/turns/turn.ts'
import { findArtifacts, findEnvelopeFacts } from '../../../src/graph/body.ts'
import { certificateForm, findCertificate } from '../../../src/graph/certificate.ts'
import { encodeProof } from '../../../src/proof/proof.ts'
import { checkProof } from '../../../src/proof/report.ts'
import { cutForm, findCut, findFreeze, freezeForm } from '../../../src/trust/cut.ts'
import { readRoster } from '../../../src/trust/read-roster.ts'
import { rosterForm } from '../../../src/trust/roster.ts'
import { decodeForm, encodeForm, linkForm } from '../../../store/canonical.ts'
import type { JsonForm } from '../../../store/canonical.ts'
import type { CidText } from '../../../store/cid-text.ts'
import { cidTextOf } from '../../../store/cid-text.ts'
import type { SeedFolder } from '../seeds.ts'
import type { Target } from '../target.ts'
import { bytesOfText, expectSame, expectThat, treeMutator, verdictOf } from '../target.ts'

interface Fixture {
  readonly block: string
}

/** Entries and the bodies that the graph, the trust and the gate read. */
export function entryTargets(seeds: SeedFolder): Target[] {
  const fixtures = (kind: string): Uint8Array[] =>
    seeds
      .names('entries', kind)
      .map((name) => bytesOfText(seeds.json<Fixture>('entries', kind, name).block))
  const valid = fixtures('valid')
  const signed = new Set(valid.map((bytes) => Buffer.from(bytes).toString('base64')))
  const cid = cidTextOf(bytesOfText('body'), 'dag-json')
  const raw = cidTextOf(bytesOfText('raw'), 'raw')
  const odd = [...oddFields, link(cid), link(raw), [link(cid)]]
  const spell = (tree: object): Uint8Array => encodeForm(tree as JsonForm)
  const mutate = treeMutator(spell, odd)
  return [
    {
      name: 'entry',
      share: 100,
      seeds: [...valid, ...fixtures('invalid')].filter(({ length }) => length < 8000),
      mutate,
      run: (bytes) => runEntry(bytes, signed),
    },
    { name: 'roster', share: 100, seeds: [rosterSeed(cid)], mutate, run: runRoster },
    {
      name: 'body',
      share: 100,
      seeds: [
        certificateSeed(cid),
        encodeForm({ artifacts: [link(raw)] }),
        envelopeSeed,
        turnSeed,
        noteSeed(cid),
        encodeForm(cutForm({ key: did, pins: [cid], readmitted: [cid] })),
        encodeForm(freezeForm({ key: did, pins: [cid] })),
      ],
      mutate,
      run: runBody,
    },
    { name: 'proof', share: 60, seeds: [proofSeed()], mutate, run: runProof },
  ]
}

const did = 'did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw'

const oddFields: readonly unknown[] = [
  did,
  `${did}x`,
  'envelope',
  'roster',
  'csag:x',
  'log:x',
  '*',
  'x'.repeat(1025),
  'a\u0001b',
  2,
  1,
  0,
  -1,
  Number.MAX_SAFE_INTEGER,
  null,
  true,
  [],
  {},
  { '/': { bytes: 'AA' } },
  ['a', 'a'],
  ['b', 'a'],
]

const envelopeSeed = encodeForm({
  created_by: 'a',
  current_heads: ['R'],
  id: 'w',
  parents: [],
  revision: 'R',
})

const turnSeed = encodeForm(
  turnForm(
    makeTurn('a', '7', '<!-- M8SHIFT:TURN 7 a BEGIN -->\n- to: b\n<!-- M8SHIFT:TURN 7 a END -->'),
  ),
)

function noteSeed(head: CidText): Uint8Array {
  return encodeForm({
    archive: ['# Old\n', { between: '', count: 1, first: 0, spelling: 'crlf' }],
    head: link(head),
    living: [{ between: '\n\n', count: 2, first: 1 }, '\n', { first: 3, text: 'a' }],
    turns: 4,
    version: 2,
  })
}

function link(cid: CidText): JsonForm {
  return linkForm(cid)
}

function rosterSeed(until: CidText): Uint8Array {
  expectThat('the did of the seed is one', isDidKey(did))
  const grant = { kinds: ['*'], streams: ['*'] }
  return encodeForm({
    agents: [
      {
        aliases: ['b', 'c'],
        id: 'a',
        keys: [
          { did, grants: [grant, { ...grant, until: link(until) }], level: 'file', machine: 'm' },
        ],
        read: ['*', 'x*'],
      },
    ],
    format: 1,
    nonce: { '/': { bytes: 'AAAAAAAAAAAAAAAAAAAAAA' } },
    prev: null,
    roots: [{ did, holder: 'h' }],
    threshold: 1,
    version: 0,
  })
}

function certificateSeed(cid: CidText): Uint8Array {
  return encodeForm(
    certificateForm({
      agent: 'a',
      checks: [{ name: 'rules', result: 'ok' }],
      freezes: [],
      heads: [cid],
      level: 'file',
      roster: cid,
      shallow: ['R1'],
      verdict: 'complete',
    }),
  )
}

function runEntry(bytes: Uint8Array, signed: ReadonlySet<string>): string {
  let stands = false
  const verdict = verdictOf(() => {
    const entry = decodeEntry(cidTextOf(bytes, 'dag-json'), bytes)
    const signer = {
      did: entry.signer,
      publicKey: new Uint8Array(32),
      level: 'file',
      sign: (): Uint8Array => entry.sig,
    } as const
    const again = seal(entry, signer)
    expectSame('entry', again.block.bytes, bytes)
    stands = findVerified(entry) !== undefined
  })
  const isKnown = signed.has(Buffer.from(bytes).toString('base64'))
  expectThat('a changed entry verifies, or a good one does not', stands === isKnown)
  return stands ? 'accepted and verified' : verdict
}

/** One author with two documents under one name. */
function proofSeed(): Uint8Array {
  const signer = signerOfSeed(new Uint8Array(32).fill(7))
  const blockOf = (text: string): Uint8Array => {
    const body = cidTextOf(bytesOfText(text), 'dag-json')
    const lists = { parents: [], prev: [], refs: [], shallow: [] }
    const absent = { artifacts: undefined, source: undefined, witness: false }
    const said = { author: 'a', kind: 'envelope', name: 'R', stream: 'csag:w', seq: 1 }
    const store = cidTextOf(bytesOfText('g'), 'dag-json')
    const signed = { signer: signer.did, roster: body, store, body }
    return seal({ ...lists, ...absent, ...said, ...signed }, signer).block.bytes
  }
  return encodeProof([blockOf('one'), blockOf('two')], undefined)
}

function runProof(bytes: Uint8Array): string {
  let proves: string | null = null
  const verdict = verdictOf(() => {
    proves = checkProof(bytes).proves
  })
  const isKnown = Buffer.from(proofSeed()).equals(bytes)
  expectThat('a changed proof proves, or a good one does not', (proves !== null) === isKnown)
  return proves === null ? verdict : 'accepted and proven'
}

function runRoster(bytes: Uint8Array): string {
  return verdictOf(() => {
    const roster = readRoster(decodeForm(bytes).form)
    expectSame('roster', encodeForm(rosterForm(roster)), bytes)
    expectThat(
      'a root is no did',
      roster.roots.every(({ did }) => isDid(did)),
    )
  })
}

function isDid(text: string): text is Did {
  return text.startsWith('did:key:z6Mk') && text.length === 56
}

function runBody(bytes: Uint8Array): string {
  const found: string[] = []
  const verdict = verdictOf(() => {
    const { form } = decodeForm(bytes)
    const certificate = findCertificate(form)
    if (certificate !== undefined) {
      found.push('certificate')
      expectSame('certificate', encodeForm(certificateForm(certificate)), bytes)
    }
    const artifacts = findArtifacts(form)
    if (artifacts !== undefined) {
      found.push('artifacts')
      expectSame('artifacts', encodeForm({ artifacts: artifacts.map(linkForm) }), bytes)
    }
    const cut = findCut(form)
    if (cut !== undefined) {
      found.push('cut')
      expectSame('cut', encodeForm(cutForm(cut)), bytes)
    }
    const freeze = findFreeze(form)
    if (freeze !== undefined) {
      found.push('freeze')
      expectSame('freeze', encodeForm(freezeForm(freeze)), bytes)
    }
    const turn = findTurn(form)
    if (turn !== undefined) {
      found.push('turn')
      expectSame('turn', encodeForm(turnForm(turn)), bytes)
    }
    const note = findRelayNote(form)
    if (note !== undefined) {
      found.push('relay note')
      expectSame('relay note', encodeForm(relayForm(note)), bytes)
    }
    const facts = findEnvelopeFacts(form)
    if (facts !== undefined) {
      found.push('envelope')
      const texts = [facts.id, facts.revision, facts.createdBy, ...facts.parents]
      expectThat(
        'a fact is no text',
        texts.every((text) => typeof text === 'string'),
      )
    }
  })
  if (verdict !== 'accepted') return verdict
  return found.length > 0 ? `accepted as ${found.join(' and ')}` : 'none of these'
}
