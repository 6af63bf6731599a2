import { formatDidKey, parseDidKey } from '../../../keys/did-key.ts'
import { parseJwk, privateJwk, publicJwk } from '../../../keys/jwk.ts'
import { formatOpenSSHKey, parseOpenSSHKey } from '../../../keys/openssh.ts'
import { formatOpenSSHPublicKey, parseOpenSSHPublicKey } from '../../../keys/openssh-public.ts'
import { formatPem, parsePem } from '../../../keys/pem.ts'
import { formatPkcs8, parsePkcs8 } from '../../../keys/pkcs8.ts'
import { parsePrivateKey } from '../../../keys/private-key.ts'
import { publicKeyOf } from '../../../keys/ed25519.ts'
import { der, derInteger, TAG } from '../../../keys/der.ts'
import { mutateBytes } from '../mutate-bytes.ts'
import type { SeedFolder } from '../seeds.ts'
import type { Mutator, Target } from '../target.ts'
import {
  byteMutator,
  bytesOfText,
  expectSame,
  jsonMutator,
  textOfBytes,
  verdictOf,
} from '../target.ts'

interface Keys {
  readonly keys: readonly { readonly text: string; readonly public: string }[]
}

interface Dids {
  readonly valid: readonly { readonly did: string }[]
}

const passphrase = 'correct horse'

/** Key files of every form that is read, and public keys as text. */
export function keyTargets(seeds: SeedFolder): Target[] {
  const { keys } = seeds.json<Keys>('vectors', 'openssh-keys.json')
  const dids = seeds.json<Dids>('vectors', 'did-key.json').valid.map(({ did }) => did)
  const others = seeds.vectors('openssh-keys', /^(?!.*\.pub$)/)
  const publics = seeds.vectors('openssh-keys', /\.pub$/)
  const seed = new Uint8Array(32).fill(7)
  const plain = [formatPkcs8(seed), formatPem('ENCRYPTED PRIVATE KEY', lockedPkcs8())]
  return [
    {
      name: 'openssh',
      share: 100,
      seeds: [...keys.map(({ text }) => bytesOfText(text)), ...others],
      mutate: pemMutator,
      run: runOpenSSH,
    },
    {
      name: 'pkcs8',
      share: 100,
      seeds: plain.map(bytesOfText),
      mutate: pemMutator,
      run: runPkcs8,
    },
    {
      name: 'public-key',
      share: 100,
      seeds: [...keys.map((key) => bytesOfText(key.public)), ...publics],
      mutate: byteMutator,
      run: runPublic,
    },
    {
      name: 'jwk',
      share: 100,
      seeds: [privateJwk(seed), publicJwk(publicKeyOf(seed)), { ...privateJwk(seed), alg: 'EdDSA' }]
        .map((jwk) => JSON.stringify(jwk))
        .map(bytesOfText),
      mutate: jsonMutator,
      run: runJwk,
    },
    { name: 'did', share: 100, seeds: dids.map(bytesOfText), mutate: byteMutator, run: runDid },
  ]
}

/** Changes what is inside the armour, so that most mutants pass it; the armour itself now and then. */
const pemMutator: Mutator = (seed, dice, other) => {
  if (dice.isBelow(20)) return mutateBytes(seed, dice, other)
  try {
    const { label, bytes } = parsePem(seed)
    return bytesOfText(formatPem(label, mutateBytes(bytes, dice, other)))
  } catch {
    return mutateBytes(seed, dice, other)
  }
}

/** PBES2 of few rounds around noise: it opens under no passphrase, and asks for little work. */
function lockedPkcs8(): Uint8Array {
  const oid = (hex: string): Uint8Array => der(TAG.oid, Buffer.from(hex, 'hex'))
  const hash = der(TAG.sequence, oid('2a864886f70d0209'), der(TAG.null))
  const stretch = der(TAG.sequence, der(TAG.octets, new Uint8Array(16)), derInteger(2), hash)
  const cipher = der(TAG.sequence, oid('60864801650304012a'), der(TAG.octets, new Uint8Array(16)))
  const scheme = der(TAG.sequence, der(TAG.sequence, oid('2a864886f70d01050c'), stretch), cipher)
  const algorithm = der(TAG.sequence, oid('2a864886f70d01050d'), scheme)
  return der(TAG.sequence, algorithm, der(TAG.octets, new Uint8Array(48)))
}

/** A passphrase is given only where the file asks for little work: what more rounds cost is measured elsewhere. */
function runOpenSSH(bytes: Uint8Array): string {
  return verdictOf(() => {
    const { seed, publicKey, comment } = parsePrivateKey(bytes)
    parseOpenSSHKey(bytes)
    expectSame('public half', publicKeyOf(seed), publicKey)
    const again = parseOpenSSHKey(formatOpenSSHKey(seed, comment))
    expectSame('seed', again.seed, seed)
    if (again.comment !== comment) throw new Error('comment: comes out otherwise')
  })
}

function runPkcs8(bytes: Uint8Array): string {
  return verdictOf(() => {
    const file = parsePkcs8(bytes)
    if ('locked' in file) {
      parsePrivateKey(bytes, file.locked.rounds < 5000 ? passphrase : undefined)
      return
    }
    expectSame('pem', parsePem(bytes).bytes, parsePem(formatPkcs8(file.seed)).bytes)
    expectSame('public half', parsePrivateKey(bytes).publicKey, publicKeyOf(file.seed))
  })
}

function runJwk(bytes: Uint8Array): string {
  return verdictOf(() => {
    const { seed, publicKey } = parsePrivateKey(bytes)
    expectSame('seed', parseJwk(JSON.stringify(privateJwk(seed))), seed)
    expectSame('public half', publicKeyOf(seed), publicKey)
  })
}

function runPublic(bytes: Uint8Array): string {
  return verdictOf(() => {
    const { publicKey, comment } = parseOpenSSHPublicKey(bytes)
    const line = formatOpenSSHPublicKey(publicKey, comment)
    expectSame('key', parseOpenSSHPublicKey(bytesOfText(line)).publicKey, publicKey)
  })
}

function runDid(bytes: Uint8Array): string {
  const text = textOfBytes(bytes)
  return verdictOf(() => {
    if (formatDidKey(parseDidKey(text)) !== text) throw new Error('did: comes out otherwise')
  })
}
