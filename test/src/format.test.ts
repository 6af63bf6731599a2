import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { CidText } from '../../store/cid-text.ts'
import { planAll } from '../../store/indexes.ts'
import { openDatabase } from '../../store/database.ts'
import { decodeEntry } from '../../src/entry/decode.ts'
import { findVerified } from '../../src/entry/verify.ts'
import { HstoreError } from '../../src/kernel/errors.ts'
import { openStore } from '../../src/open-store.ts'
import { rowOf } from '../../src/entry/row.ts'
import { writeConfig } from '../../src/store-folder.ts'
import { codeFences } from '../support/transcript.ts'
import type { Json } from '../support/second-implementation.ts'
import {
  canonical,
  cid,
  entryBlock,
  entryType,
  isSignedBy,
  keyOf,
  seeds,
  signedBytes,
} from '../support/second-implementation.ts'
import { makeTempFolder } from '../support/temp-folder.ts'
import { workedExample } from '../support/worked-example.ts'

interface Case {
  readonly file: string
  readonly about: string
  readonly block: string
  readonly cid: CidText
}

type ValidCase = Case & { readonly seed: string }
type InvalidCase = Case & {
  readonly code: string
  readonly reason?: string
  readonly pointers?: readonly string[]
}

const fixtures = fileURLToPath(new URL('../../fixtures/entries/', import.meta.url))
const page = readFileSync(new URL('../../docs/format.md', import.meta.url), 'utf8')
const valid = readCases<ValidCase>('valid')
const invalid = readCases<InvalidCase>('invalid')

function readCases<T extends Case>(folder: string): T[] {
  return readdirSync(`${fixtures}${folder}`).map((file) => {
    const text = readFileSync(`${fixtures}${folder}/${file}`, 'utf8')
    return { ...(JSON.parse(text) as T), file }
  })
}

/** Returns what the entry's door and the signature say: the code and where, or that the entry stands. */
function judge({ block, cid: address }: Case): object {
  try {
    const entry = decodeEntry(address, Buffer.from(block))
    return { code: findVerified(entry) === undefined ? 'HS2001' : 'stands' }
  } catch (error) {
    if (!(error instanceof HstoreError)) throw error
    const { faults, reason } = error.details as { faults?: { pointer: string }[]; reason?: string }
    const pointers = faults && [...new Set(faults.map(({ pointer }) => pointer))].sort()
    return { code: error.code, ...(reason && { reason }), ...(pointers && { pointers }) }
  }
}

describe('entries in fixtures/entries/valid', () => {
  it.each(valid)('$file: $about', (fixture) => {
    expect(cid('dag-json', fixture.block)).toBe(fixture.cid)
    expect(judge(fixture)).toEqual({ code: 'stands' })
    const { payload } = JSON.parse(fixture.block) as { payload: Json }
    expect(entryBlock(payload, keyOf(fixture.seed))).toBe(fixture.block)
    expect(isSignedBy(Buffer.from(fixture.block), keyOf(fixture.seed))).toBe(true)
  })

  it.each(valid)('$file reads back as it is written', ({ block, cid: address }) => {
    const { payload } = JSON.parse(block) as { payload: Record<string, unknown> }
    const entry = decodeEntry(address, Buffer.from(block))
    const links = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value ?? null), (_, item) => item?.['/'] ?? item)
    const read = {
      artifacts: entry.artifacts,
      author: entry.author,
      body: entry.body,
      kind: entry.kind,
      name: entry.name,
      parents: entry.parents,
      prev: entry.prev,
      roster: entry.roster,
      seq: entry.seq,
      signer: entry.signer,
      source: entry.source,
      store: entry.store,
      ...(entry.refs.length > 0 && { refs: entry.refs }),
      ...(entry.shallow.length > 0 && { shallow: entry.shallow }),
      ...(entry.witness && { witness: true }),
      stream: entry.stream,
      v: 1,
    }
    expect(JSON.parse(JSON.stringify(read))).toEqual(links(payload))
    expect(Buffer.from(entry.payloadBytes).toString()).toBe(canonical(payload as Json))
  })

  it('has every kind, every key and the longest lists', () => {
    const payloads = valid.map(
      ({ block }) => (JSON.parse(block) as { payload: Record<string, unknown> }).payload,
    )
    expect(new Set(payloads.map(({ kind }) => kind))).toEqual(
      new Set([...kindsOfPage().keys(), 'poll', 'constructor']),
    )
    expect(new Set(payloads.flatMap(Object.keys))).toEqual(new Set(keysOfPage()))
    expect(valid.some(({ block }) => Buffer.byteLength(block) === 64 * 1024)).toBe(true)
  })
})

describe('entries in fixtures/entries/invalid', () => {
  it.each(invalid)('$file: $about', (fixture) => {
    expect(cid('dag-json', fixture.block)).toBe(fixture.cid)
    const { code, reason, pointers } = fixture
    expect(judge(fixture)).toEqual({
      code,
      ...(reason && { reason }),
      ...(pointers && { pointers: [...pointers].sort() }),
    })
  })

  it('has a fault for every key of an entry', () => {
    const at = new Set(invalid.flatMap(({ pointers }) => pointers ?? []))
    for (const key of keysOfPage()) expect(at).toContain(`/payload/${key}`)
    expect(invalid.length).toBeGreaterThanOrEqual(40)
  })

  it('has every reason of the codec that a file of text can show', () => {
    const reasons = new Set(invalid.flatMap(({ reason }) => reason ?? []))
    const told = new Set(
      rowsOf('### Reasons').flatMap(([, cell]) => cell?.match(/[a-z0-9-]+/g) ?? []),
    )
    const other = ['not-utf8', 'not-plain-data', 'too-large']
    for (const reason of told) {
      if (!other.includes(reason)) expect(reasons).toContain(reason)
    }
  })
})

describe('docs/format.md', () => {
  const example = workedExample()

  it('shows the worked example byte for byte', () => {
    const fences = codeFences(page).filter(({ info }) => info.includes('block="'))
    expect(fences.map(({ info }) => /block="([^"]+)"/.exec(info)?.[1])).toEqual(
      example.map(({ name }) => name),
    )
    for (const [i, { text, codec }] of example.entries()) {
      expect(fences[i]?.text).toBe(codec === 'raw' ? text : `${text}\n`)
    }
  })

  it('gives every block of the example its CID and size', () => {
    const rows =
      sectionOf('## A worked example').match(/^\| `?[a-z ]+`? +\| `ba[^|]+\|[^|]+\|/gm) ?? []
    const told = rows.map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    expect(told.map(([, name, address, size]) => [name, address, size])).toEqual(
      example.map((block) => [block.name, block.cid, String(Buffer.byteLength(block.text))]),
    )
  })

  it('spells out what the key signs', () => {
    const { text } = example.find(({ name }) => name === 'envelope entry')!
    const block = Buffer.from(text)
    const signed = signedBytes(block.subarray(11, -112))
    expect(page).toContain(`DSSEv1 40 ${entryType} ${block.length - 123} {"artifacts"`)
    expect(page).toContain(
      signed
        .subarray(0, 64)
        .toString('hex')
        .replaceAll(/(..)(?=.)/g, '$1 ')
        .slice(0, 47),
    )
    const signature = /"bytes":"([^"]{86})"/.exec(text)![1]!
    expect(page).toContain(Buffer.from(signature, 'base64').toString('hex'))
    expect(page).toContain(seeds.one)
    expect(page).toContain(keyOf(seeds.one).did)
  })

  it('describes a store that hstore opens and verifies', async () => {
    const folder = await makeTempFolder()
    const blocks = example.map(({ cid: address, text }) => ({
      cid: address as CidText,
      bytes: new Uint8Array(Buffer.from(text)),
    }))
    const entries = blocks
      .filter((_, i) => example[i]!.name.endsWith('entry'))
      .map((block) => findVerified(decodeEntry(block.cid, block.bytes))!)
    const genesis = blocks[0]!.cid
    {
      await using db = await openDatabase(`${folder}/.hstore`, { waitMs: 0, create: true })
      await db.commit({ blocks, rows: planAll(entries.map(rowOf)) })
    }
    await writeConfig(`${folder}/.hstore`, { format: 1, genesis, agent: 'csag:agent/agent-a' })
    await using store = await openStore({ cwd: folder, keys: `${folder}/keys`, genesis })
    const report = await store.verify()
    expect(report.findings.filter(({ severity }) => severity === 'error')).toEqual([])
    expect(report).toMatchObject({ ok: true, checked: { entries: 3, blocks: 13, artifacts: 1 } })
    expect(await store.roster()).toMatchObject({ genesis, version: 1 })
    expect((await store.heads()).map(({ entry }) => entry.cid)).toEqual([example[10]!.cid])
  })

  it('lists the kinds as the code has them', async () => {
    const { isJudged, kindOf } = await import('../../src/entry/kinds.ts')
    for (const [name, told] of kindsOfPage()) {
      const { isNode, family, isNamed, mayWitness } = kindOf(name)
      const has = { family: family ?? 'any', isNode, isNamed, mayWitness, isJudged: isJudged(name) }
      expect({ name, ...told }).toEqual({ name, ...has })
    }
    expect(kindsOfPage().size).toBe(18)
  })
})

/** Returns the text of a section, up to the next heading of the same or a higher level. */
function sectionOf(heading: string): string {
  const from = page.indexOf(`${heading}\n`)
  if (from < 0) throw new Error(`docs/format.md has no «${heading}»`)
  const level = heading.indexOf(' ')
  const rest = page.slice(from + heading.length)
  const end = rest.search(new RegExp(`^#{1,${level}} `, 'm'))
  return end < 0 ? rest : rest.slice(0, end)
}

function rowsOf(heading: string): string[][] {
  return sectionOf(heading)
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
}

function keysOfPage(): string[] {
  return rowsOf('### Payload').map(([, key = '']) => key.replaceAll('`', ''))
}

function kindsOfPage(): Map<string, object> {
  return new Map(
    rowsOf('### Kinds').map(([, name = '', family, node, named, witness, judged]) => [
      name.replaceAll('`', ''),
      {
        family,
        isNode: node === 'node',
        isNamed: named !== '',
        mayWitness: witness === 'yes',
        isJudged: judged === 'yes',
      },
    ]),
  )
}
