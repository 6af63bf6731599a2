import { createHash, createPrivateKey } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58btc } from 'multiformats/bases/base58'
import { describe, expect, it } from 'vitest'
import { formatDidKey, isDidKey, parseDidKey } from '../../keys/did-key.ts'
import { verifyPortable } from '../../keys/ed25519-portable.ts'
import { publicKeyOf, sign, verify } from '../../keys/ed25519.ts'
import { KeyError } from '../../keys/errors.ts'
import { formatOpenSSHKey, parseOpenSSHKey } from '../../keys/openssh.ts'
import { parseOpenSSHPublicKey } from '../../keys/openssh-public.ts'
import { pae } from '../../keys/pae.ts'
import { parsePrivateKey } from '../../keys/private-key.ts'
import { dsseOf } from '../../src/entry/dsse.ts'
import { verdictOf } from './read-index.ts'

/** Files that may be taken or refused, and that hstore refuses. */
const REFUSED_BY_CHOICE = new Set(['form/bom'])

interface Case {
  readonly name: string
  readonly publicKey: Uint8Array
  readonly message: Uint8Array
  readonly signature: Uint8Array
  readonly valid: boolean
}

/** Runs the five sets of Ed25519 vectors through both verdicts, and signing where a seed is given. */
export function describeEd25519(folder: string): void {
  describeVerdicts(folder, 'ed25519-wycheproof', wycheproof)
  describeVerdicts(folder, 'ed25519-speccheck', speccheck)
  describeVerdicts(folder, 'ed25519-zip215', zip215)
  describeVerdicts(folder, 'ed25519-cctv', cctv)
  describeRfc8032(folder)
  describeVerdicts(join(folder, '../cases'), 'r38-small-order-and-friends', smallOrder)
}

/** Runs the did:key vectors: the W3C's keys, the near misses, and all other key types, which are refused. */
export function describeDidKey(folder: string): void {
  describe.skipIf(!existsSync(join(folder, 'did-key')))('did-key', () => {
    const set = join(folder, 'did-key')
    const known = json<Record<string, { seed: string }>>(set, 'w3c-ccg/ed25519-x25519.json')
    it.each(Object.entries(known))('%s', (did, { seed }) => {
      expect(formatDidKey(publicKeyOf(hex(seed)))).toBe(did)
      expect(parseDidKey(did)).toEqual(publicKeyOf(hex(seed)))
    })
    it.each(lines<{ name: string; string: string; hstore: string }>(set, 'near-misses.jsonl'))(
      '$name',
      ({ string, hstore }) => {
        expect(isDidKey(string)).toBe(hstore === 'accept')
        if (hstore === 'accept') expect(formatDidKey(parseDidKey(string))).toBe(string)
        else expect(codeOf(() => parseDidKey(string))).toBe('HSTORE_DID_INVALID')
      },
    )
    it.each(otherDids(set))('refuses %s', (did) => {
      expect(codeOf(() => parseDidKey(did))).toBe('HSTORE_DID_INVALID')
    })
  })
}

/** Runs the OpenSSH key files, and the two handed cases about them where they are there. */
export function describeOpenSSHKeys(folder: string): void {
  const set = join(folder, 'openssh-keys')
  describe.skipIf(!existsSync(set))('openssh-keys', () => {
    it.each(lines<KeyFile>(set, 'index.jsonl'))('$file: $expect', (file) => {
      checkKeyFile(readFileSync(join(set, file.file)), file)
    })
  })
  const cases = join(folder, '../cases')
  const zero = join(cases, 'r34-public-key-leading-zero')
  describe.skipIf(!existsSync(zero))('r34-public-key-leading-zero', () => {
    it('gives the whole key, in and out', () => {
      const expected = json<{ did: string; publicKeyHex: string }>(zero, 'expected.json')
      const key = parseOpenSSHKey(readFileSync(join(zero, 'id_ed25519')))
      expect(key.publicKey).toEqual(hex(expected.publicKeyHex))
      expect(formatDidKey(key.publicKey)).toBe(expected.did)
      expect(verify(sign(key.seed, key.seed), key.seed, key.publicKey)).toBe(true)
      expect(parseOpenSSHKey(formatOpenSSHKey(key.seed, key.comment))).toEqual(key)
      const half = parseOpenSSHPublicKey(readFileSync(join(zero, 'id_ed25519.pub')))
      expect(half.publicKey).toEqual(key.publicKey)
    })
  })
  const comments = join(cases, 'r36-non-ascii-comment')
  describe.skipIf(!existsSync(comments))('r36-non-ascii-comment', () => {
    it.each(['control', 'latin1', 'utf8'])('%s', (name) => {
      const { did } = json<{ did: string }>(comments, 'expected.json')
      const key = parseOpenSSHKey(readFileSync(join(comments, name)))
      expect(formatDidKey(key.publicKey)).toBe(did)
      expect(key.comment).not.toContain('\ufffd')
    })
  })
}

/** Runs the digests of DSSE's pre-authentication encoding, and the specification's own example. */
export function describeDsse(folder: string): void {
  const set = join(folder, 'dsse')
  describe.skipIf(!existsSync(set))('dsse', () => {
    it.each(json<PaeCase[]>(set, 'pae.json'))('pae $paeSha256', (test) => {
      const [unit, times] = test.payloadRepeat ?? [test.payloadHex ?? '', 1]
      const bytes = pae(test.payloadType, hex(unit.repeat(times)))
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(test.paeSha256)
    })
    it('the example of the specification', () => {
      const example = json<Record<string, string>>(set, 'spec-vector.json')
      const bytes = pae(example['payloadType']!, utf8(example['payloadUtf8']!))
      expect(bytes).toEqual(utf8(example['pae']!))
    })
    it.each(foreignEnvelopes(set))('$name is no entry, nor is what it holds', ({ dsse, file }) => {
      const { payload } = dsse as { readonly payload: string }
      const blocks = [file, utf8(JSON.stringify(dsse)), new Uint8Array(base64(payload))]
      for (const block of blocks) {
        expect(verdictOf(() => dsseOf(block))).toMatch(/^HSTORE_(?:BLOCK|ENTRY)_INVALID$/)
      }
    })
  })
}

/** Envelopes that other tools signed, alone or in a bundle. */
function foreignEnvelopes(set: string): { name: string; dsse: unknown; file: Uint8Array }[] {
  const files = readdirSync(set, { recursive: true, encoding: 'utf8' })
  return files.sort().flatMap((name) => {
    if (!/link\.json$|template\.json$|bundle\.sigstore\.json$|spec-vector\.json$/.test(name))
      return []
    const value = json<{ dsseEnvelope?: unknown; envelope?: unknown; payload?: string }>(set, name)
    const dsse =
      value.dsseEnvelope ?? value.envelope ?? (value.payload === undefined ? undefined : value)
    const file = new Uint8Array(readFileSync(join(set, name)))
    return dsse === undefined ? [] : [{ name, dsse, file }]
  })
}

/** Runs RFC 8037's Ed25519 signature. */
export function describeJwsEddsa(folder: string): void {
  const set = join(folder, 'jws-eddsa')
  describe.skipIf(!existsSync(set))('jws-eddsa', () => {
    it.each(json<JwsCase[]>(set, 'rfc8037.json'))('$name', ({ jwk, compact }) => {
      const [head, payload, signature] = compact.split('.') as [string, string, string]
      const seed = base64(jwk.d)
      expect(publicKeyOf(seed)).toEqual(base64(jwk.x))
      expectSignature(seed, utf8(`${head}.${payload}`), base64(signature))
    })
  })
}

/** Runs RFC 9421's Ed25519 signatures. */
export function describeHttpSignatures(folder: string): void {
  const set = join(folder, 'http-signatures-rfc9421')
  describe.skipIf(!existsSync(set))('http-signatures-rfc9421', () => {
    const { key, cases } = json<HttpSet>(set, 'ed25519.json')
    it.each(cases)('$name', ({ signatureBase, signature, valid }) => {
      const { seed, publicKey } = parsePrivateKey(key.privateKeyPem)
      expect(seed).toEqual(base64(key.jwk.d))
      expectVerdict(base64(signature), utf8(signatureBase), publicKey, valid)
      if (valid) expectSignature(seed, utf8(signatureBase), base64(signature))
      const node = createPrivateKey(key.privateKeyPem)
      if (valid) expect(sign(utf8(signatureBase), node)).toEqual(base64(signature))
    })
  })
}

/** Runs the keys of the W3C's Data Integrity vectors, and the signature whose input is given as bytes. */
export function describeVcDi(folder: string): void {
  const set = join(folder, 'vc-di-eddsa')
  describe.skipIf(!existsSync(set))('vc-di-eddsa', () => {
    const pair = json<KeyPair>(set, 'keyPair.json')
    const pairs = json<Record<string, KeyPair>>(set, 'proof-set-chain/multiKeyPairs.json')
    it.each([pair, ...Object.values(pairs)])('$publicKeyMultibase', (keys) => {
      const did = formatDidKey(publicKeyOf(seedOf(keys)))
      expect(did).toBe(`did:key:${keys.publicKeyMultibase}`)
    })
    it('eddsa-jcs-2022', () => {
      const text = (name: string): string =>
        readFileSync(join(set, 'eddsa-jcs-2022', name), 'utf8').trim()
      const sha256 = (name: string): string => createHash('sha256').update(text(name)).digest('hex')
      const input = sha256('proofCanonJCS.txt') + sha256('canonDocJCS.txt')
      expect(input).toBe(text('combinedHashJCS.txt'))
      expectSignature(seedOf(pair), hex(input), hex(text('sigHexJCS.txt')))
      expect(base58btc.decode(text('sigBTC58JCS.txt'))).toEqual(hex(text('sigHexJCS.txt')))
    })
  })
}

interface KeyFile {
  readonly file: string
  readonly expect: string
  readonly passphrase?: string | null
  readonly comment?: string
  readonly did?: string
  readonly publicKeyHex?: string
}
interface PaeCase {
  readonly payloadType: string
  readonly payloadHex: string | null
  readonly payloadRepeat: [string, number] | null
  readonly paeSha256: string
}
interface JwsCase {
  readonly name: string
  readonly jwk: { readonly d: string; readonly x: string }
  readonly compact: string
}
interface HttpSet {
  readonly key: { readonly privateKeyPem: string; readonly jwk: { readonly d: string } }
  readonly cases: { name: string; signatureBase: string; signature: string; valid: boolean }[]
}
interface KeyPair {
  readonly publicKeyMultibase: string
  readonly privateKeyMultibase: string
}

function describeVerdicts(folder: string, name: string, read: (set: string) => Case[]): void {
  const set = join(folder, name)
  describe.skipIf(!existsSync(set))(name, () => {
    it.each(read(set))('$name is $valid', ({ publicKey, message, signature, valid }) => {
      expectVerdict(signature, message, publicKey, valid)
    })
  })
}

function describeRfc8032(folder: string): void {
  const set = join(folder, 'ed25519-rfc8032')
  describe.skipIf(!existsSync(set))('ed25519-rfc8032', () => {
    it.each(rfc8032(set))('$name', ({ seed, publicKey, message, signature, bits }) => {
      expect(publicKeyOf(seed)).toEqual(publicKey)
      expectSignature(seed, message, signature)
      for (let bit = 0; bit < 512; bit += bits) {
        expect(verify(flip(signature, bit), message, publicKey)).toBe(false)
        if (bit < 256) expect(verify(signature, message, flip(publicKey, bit))).toBe(false)
        if (bit < message.length * 8) {
          expect(verify(signature, flip(message, bit), publicKey)).toBe(false)
        }
      }
    })
  })
}

function rfc8032(set: string): (Omit<Case, 'valid'> & { seed: Uint8Array; bits: number })[] {
  const appendix = json<Record<'priv' | 'pub' | 'msg' | 'sig', string>[]>(set, 'rfc8032.json')
  const input = readFileSync(join(set, 'sign.input.txt'), 'utf8').trim().split('\n')
  const own = appendix.map((test, i) => ({ ...test, name: `RFC 8032 test ${i}`, bits: 1 }))
  const more = input.map((line, i) => {
    const [pair, pub, msg, signed] = line.split(':') as [string, string, string, string]
    const [priv, sig] = [pair.slice(0, 64), signed.slice(0, 128)]
    return { name: `sign.input line ${i}`, priv, pub, msg, sig, bits: 37 }
  })
  return [...own, ...more].map(({ name, priv, pub, msg, sig, bits }) => ({
    name,
    seed: hex(priv),
    publicKey: hex(pub),
    message: hex(msg),
    signature: hex(sig),
    bits,
  }))
}

function wycheproof(set: string): Case[] {
  const { testGroups } = json<{
    testGroups: {
      publicKey: { pk: string }
      tests: { tcId: number; comment: string; msg: string; sig: string; result: string }[]
    }[]
  }>(set, 'ed25519_test.json')
  return testGroups.flatMap(({ publicKey, tests }) =>
    tests.map(({ tcId, comment, msg, sig, result }) => ({
      name: `${tcId} ${comment}`,
      publicKey: hex(publicKey.pk),
      message: hex(msg),
      signature: hex(sig),
      valid: result === 'valid',
    })),
  )
}

function speccheck(set: string): Case[] {
  const strict = json<Record<string, boolean>>(set, 'strict.json')
  const cases = json<Record<'message' | 'pub_key' | 'signature', string>[]>(set, 'cases.json')
  return cases.map((test, i) => fromSpeccheck(`${i}`, test, strict[i] as boolean))
}

function smallOrder(set: string): Case[] {
  const cases = json<
    { speccheck: number; message: string; pub_key: string; signature: string; valid: boolean }[]
  >(set, 'cases.json')
  return cases.map((test) => fromSpeccheck(`${test.speccheck}`, test, test.valid))
}

function fromSpeccheck(
  name: string,
  test: Record<'message' | 'pub_key' | 'signature', string>,
  valid: boolean,
): Case {
  const [message, publicKey, signature] = [test.message, test.pub_key, test.signature].map(hex)
  return { name, message: message!, publicKey: publicKey!, signature: signature!, valid }
}

function zip215(set: string): Case[] {
  const cases = json<{ index: number; vk_bytes: string; sig_bytes: string }[]>(set, 'zip215.json')
  return cases.map(({ index, vk_bytes, sig_bytes }) => ({
    name: `${index}`,
    publicKey: hex(vk_bytes),
    message: utf8('Zcash'),
    signature: hex(sig_bytes),
    valid: false,
  }))
}

function cctv(set: string): Case[] {
  const cases = json<
    { number: number; key: string; sig: string; msg: string; flags: string[]; strict: boolean }[]
  >(set, 'ed25519vectors.json')
  return cases.map(({ number, key, sig, msg, flags, strict }) => ({
    name: `${number} ${(flags ?? []).join(' ')}`,
    publicKey: hex(key),
    message: utf8(msg),
    signature: hex(sig),
    valid: strict,
  }))
}

function otherDids(set: string): string[] {
  const names = ['x25519', 'secp256k1', 'nist-curves', 'rsa', 'bls12381']
  const files = names.map((name) => join(set, `w3c-ccg/other-${name}.json`))
  files.push(join(set, 'atproto/w3c_didkey_P256.json'), join(set, 'atproto/w3c_didkey_K256.json'))
  files.push(join(set, 'atproto/signature-fixtures.json'))
  files.push(join(set, 'atproto/did_syntax_valid.txt'), join(set, 'atproto/did_syntax_invalid.txt'))
  const dids = files.flatMap((file) => readFileSync(file, 'utf8').match(/did:[^"#\s]+/g) ?? [])
  return [...new Set(dids)]
}

/** Where a file may be refused as well, it must not come out as another key. */
function checkKeyFile(bytes: Uint8Array, file: KeyFile): void {
  if (file.expect === 'public key line') {
    const { publicKey } = parseOpenSSHPublicKey(bytes)
    if (file.did !== undefined) expect(formatDidKey(publicKey)).toBe(file.did)
    expect(codeOf(() => parsePrivateKey(bytes))).toBe('HSTORE_KEY_INVALID')
    return
  }
  const passphrase = file.passphrase ?? undefined
  if (file.expect.startsWith('refuse') || REFUSED_BY_CHOICE.has(file.file)) {
    expect(codeOf(() => parsePrivateKey(bytes, passphrase))).toBe('HSTORE_KEY_INVALID')
    return
  }
  const key = parsePrivateKey(bytes, passphrase)
  if (file.did !== undefined) expect(formatDidKey(key.publicKey)).toBe(file.did)
  if (file.publicKeyHex !== undefined) expect(key.publicKey).toEqual(hex(file.publicKeyHex))
  if (file.comment !== undefined) expect(key.comment).toBe(file.comment)
  expect(verify(sign(bytes, key.seed), bytes, key.publicKey)).toBe(true)
  if (passphrase === undefined) return
  expect(codeOf(() => parsePrivateKey(bytes))).toBe('HSTORE_PASSPHRASE_NEEDED')
  expect(codeOf(() => parsePrivateKey(bytes, 'wrong'))).toBe('HSTORE_PASSPHRASE_WRONG')
}

function expectVerdict(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
  valid: boolean,
): void {
  expect(verify(signature, message, publicKey)).toBe(valid)
  expect(verifyPortable(signature, message, publicKey)).toBe(valid)
}

function expectSignature(seed: Uint8Array, message: Uint8Array, signature: Uint8Array): void {
  expect(sign(message, seed)).toEqual(signature)
  expectVerdict(signature, message, publicKeyOf(seed), true)
}

function seedOf(pair: KeyPair): Uint8Array {
  // Multicodec 0x1300, an Ed25519 private key, as a varint of two bytes.
  return base58btc.decode(pair.privateKeyMultibase).slice(2)
}

function codeOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return error instanceof KeyError ? error.code : String(error)
  }
  return 'accepted'
}

function flip(bytes: Uint8Array, bit: number): Uint8Array {
  const result = bytes.slice()
  result[bit >> 3]! ^= 1 << (bit & 7)
  return result
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- says what the file holds
function json<T>(set: string, name: string): T {
  return JSON.parse(readFileSync(join(set, name), 'utf8')) as T
}

function lines<T>(set: string, name: string): T[] {
  const text = readFileSync(join(set, name), 'utf8').trim()
  return text.split('\n').map((line) => JSON.parse(line) as T)
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'hex'))
}

function utf8(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text))
}

function base64(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'base64url'))
}
