import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fitsPatterns,
  formatAllowedSigner,
  parseAllowedSigners,
} from '../../keys/allowed-signers.ts'
import { formatOpenSSHPublicKey } from '../../keys/openssh-public.ts'
import { signerOfSeed } from '../../keys/signer.ts'
import { verifySshSignature } from '../../src/ssh-signature.ts'
import { hasOpenSSH, publicLine, seed, startRealAgent } from '../support/ssh-agent.ts'
import { makeTempFolder } from '../support/temp-folder.ts'
import { verdictOf } from '../vectors/read-index.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const { publicKey } = signerOfSeed(seed)
const key = publicLine.split(' ').slice(0, 2).join(' ')
const other = formatOpenSSHPublicKey(signerOfSeed(new Uint8Array(32).fill(1)).publicKey, '').trim()

describe('formatAllowedSigner', () => {
  it.each([
    [['csag:agent/agent-a'], 'csag:agent/agent-a '],
    [['a', 'b'], 'a,b '],
    [['my agent', '#x'], '"my agent,#x" '],
    [['é'], '"é" '],
  ])('writes %j so that it is read back', (names, start) => {
    const line = formatAllowedSigner(names, publicKey, 'a\nb')
    expect(line.startsWith(start)).toBe(true)
    const { signers, problems } = parseAllowedSigners(encode(line))
    expect(problems).toEqual([])
    expect(signers).toHaveLength(1)
    expect(signers[0]!.publicKey).toEqual(publicKey)
    for (const name of names) {
      const bytes = Buffer.from(name).toString('latin1')
      expect(fitsPatterns(bytes, signers[0]!.principals)).toBe(true)
    }
  })

  it.each(['*', 'a*', 'a?', '!a', 'a,b', 'a"b', 'a\nb', '', 'x'.repeat(1001)])(
    'refuses %j, which would be more than a name',
    (name) => {
      expect(verdictOf(() => formatAllowedSigner(['a', name], publicKey, ''))).toBe(
        'HSTORE_KEY_INVALID',
      )
    },
  )
})

describe('parseAllowedSigners', () => {
  it('tells what is wrong with a line, and goes on', () => {
    const lines = [
      '# none',
      'a frob="x" KEY',
      'a',
      'a ssh-rsa AAAA',
      'a cert-authority KEY',
      'a KEY',
    ]
    const text = lines.join('\n').replaceAll('KEY', key)
    const { signers, problems } = parseAllowedSigners(encode(text))
    expect(signers.map(({ line }) => line)).toEqual([6])
    expect(problems.map(({ line }) => line)).toEqual([2, 3])
  })

  it('has no file of more than 1 MiB', () => {
    expect(verdictOf(() => parseAllowedSigners(new Uint8Array(1_048_577)))).toBe(
      'HSTORE_KEY_INVALID',
    )
  })

  it('is quick with whatever stands in a line', () => {
    const hostile = ['"', 'a"b"', '*a', 'a ', 'a=",', ',', '"" ', 'x="y",'].map((part) =>
      part.repeat(200_000 / part.length),
    )
    const started = performance.now()
    for (const line of hostile) parseAllowedSigners(encode(line))
    expect(fitsPatterns('a'.repeat(5000), `${'*a'.repeat(500)}*b`)).toBe(false)
    expect(performance.now() - started).toBeLessThan(5000)
  })
})

/** Pieces of lines, sound and not, that are put together at random. */
const piece = fc.constantFrom(
  'a@x',
  '*',
  '*@x',
  '!a@x',
  'b@x',
  ',',
  ' ',
  '\t',
  '"',
  '\r',
  '\n',
  '#',
  '=',
  key,
  key,
  other,
  'namespaces="file"',
  'namespaces="git"',
  'namespaces=',
  'cert-authority',
  'namespaces="f*"',
  'valid-after="20200101"',
  'valid-before="20990101Z"',
  'valid-before="20200101"',
  'frob',
  ' a@x ',
  `\na@x ${key}`,
  `\na@x namespaces="file",valid-after="20200101" ${key}`,
)

describe.skipIf(!hasOpenSSH)('beside ssh-keygen -Y verify', () => {
  it('never allows what OpenSSH does not, over 150 random files', async () => {
    const folder = await makeTempFolder()
    const at = (name: string): string => join(folder, name)
    const { keyFile } = await startRealAgent()
    await writeFile(at('m'), 'high tide')
    spawnSync('ssh-keygen', ['-q', '-Y', 'sign', '-f', keyFile, '-n', 'file', at('m')])
    const signature = await readFile(at('m.sig'))
    const counts = { both: 0, neither: 0, openssh: 0 }
    const files = fc.sample(fc.array(piece, { minLength: 2, maxLength: 9 }), {
      numRuns: 150,
      seed: 7,
    })
    for (const pieces of files) {
      const text = pieces.join('')
      await writeFile(at('signers'), text)
      const args = [
        '-Y',
        'verify',
        '-f',
        at('signers'),
        '-I',
        'a@x',
        '-n',
        'file',
        '-s',
        at('m.sig'),
      ]
      const theirs = spawnSync('ssh-keygen', args, { input: 'high tide' }).status === 0
      const ours = verdictOf(() =>
        verifySshSignature(
          { file: encode('high tide'), signature, principal: 'a@x', namespace: 'file' },
          { allowedSigners: encode(text), nowMs: Date.now() },
        ),
      )
      if (ours === 'accept') expect(theirs, JSON.stringify(text)).toBe(true)
      counts[theirs ? (ours === 'accept' ? 'both' : 'openssh') : 'neither'] += 1
    }
    console.log('allowed_signers beside ssh-keygen:', JSON.stringify(counts))
    expect(counts.both).toBeGreaterThan(10)
    expect(counts.neither).toBeGreaterThan(10)
  })
})
