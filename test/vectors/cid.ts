import { CID } from 'multiformats/cid'
import { describe, expect, it } from 'vitest'
import { readCid } from '../../store/cid-bytes.ts'
import { isCidText } from '../../store/cid-text.ts'
import { parseCid } from '../../store/cid.ts'
import { decodeBlock, encodeBlock } from '../../store/codec.ts'
import { readIndex, verdictOf } from './read-index.ts'

interface CidCase {
  readonly file: string
  readonly line?: number
  readonly form: 'bytes' | 'text'
  readonly value: string
  readonly hstore: 'accept' | 'reject'
}

interface AliasCase {
  readonly name: string
  readonly string: string
  readonly hstore: 'accept' | 'reject'
}

/** The set multiformats-cid: text as an argument and as a link, bytes as a binary CID and as a link. */
export function describeCid(folder: string): void {
  describe('multiformats-cid', () => {
    for (const { file, line, form, value, hstore } of readIndex<CidCase>(
      folder,
      'multiformats-cid/index.jsonl',
    )) {
      it(`${file} ${line ?? ''} ${form}: ${hstore}`, () => {
        if (form === 'text') expectText(value, hstore)
        else expectBinary(Buffer.from(value, 'hex'), hstore)
      })
    }
    for (const { name, string, hstore } of readIndex<AliasCase>(
      folder,
      'multiformats-cid/aliases.jsonl',
    )) {
      it(`${name}: ${hstore}`, () => expectText(string, hstore))
    }
  })
}

function expectText(text: string, verdict: 'accept' | 'reject'): void {
  expect(isCidText(text)).toBe(verdict === 'accept')
  const block = new TextEncoder().encode(`{"link":{"/":${JSON.stringify(text)}}}`)
  if (verdict === 'reject') {
    expect(verdictOf(() => parseCid(text))).toBe('HSTORE_CID_INVALID')
    expect(verdictOf(() => decodeBlock(block))).toBe('HSTORE_BLOCK_INVALID')
    return
  }
  expect(parseCid(text).toString()).toBe(text)
  expect(encodeBlock(decodeBlock(block))).toEqual(block)
}

function expectBinary(bytes: Uint8Array, verdict: 'accept' | 'reject'): void {
  const read = readCid(bytes)
  const admitted = typeof read !== 'string' && read.size === bytes.length
  expect(admitted).toBe(verdict === 'accept')
  const cid = parsedByOthers(bytes)
  if (cid === undefined) return
  const wanted = verdict === 'accept' ? 'accept' : 'HSTORE_BLOCK_INVALID'
  expect(verdictOf(() => encodeBlock({ link: cid }))).toBe(wanted)
}

function parsedByOthers(bytes: Uint8Array): CID | undefined {
  try {
    return CID.decode(new Uint8Array(bytes))
  } catch {
    return undefined
  }
}
