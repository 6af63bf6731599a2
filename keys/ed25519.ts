import { ArgumentError } from '../src/kernel/errors.ts'
import {
  createPrivateKey,
  createPublicKey,
  sign as signNode,
  verify as verifyNode,
  KeyObject,
} from 'node:crypto'
import { asBuffer } from '../src/kernel/bytes.ts'
import { KeyError } from './errors.ts'
import { RecentMap } from '../src/kernel/recent-map.ts'

const P = 2n ** 255n - 19n
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/** L, the order of the base point, little-endian: 2^252 + 27742317777372353535851937790883648493. */
const ORDER = bytesOf('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010')

/** The y of all eight points of small order, little-endian: 0, 1, p - 1 and the two of order 8. */
const SMALL_ORDER_Y = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
].map(bytesOf)

/** What stands before the 32 bytes in the DER forms of RFC 8410. */
const SPKI_PREFIX = bytesOf('302a300506032b6570032100')
const PKCS8_PREFIX = bytesOf('302e020100300506032b657004220420')

/** Checked keys by their 32 bytes as Latin-1 text. Only good ones: bad ones must not push them out. */
const checkedKeys = new RecentMap<KeyObject>(1024)

/**
 * Returns whether `signature` stands, by the one strict verdict: both lengths, canonical A and R, neither of small
 * order, A on the curve, S < L, and the cofactorless equation. False for any other input, of whatever type: it never
 * throws.
 *
 * @param signature - 64 bytes: R, then S.
 * @param publicKey - 32 bytes: A.
 * @see RFC 8032 section 5.1.7, which leaves small orders and the cofactor open
 */
export function verify(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    const key = findKey(signature, message, publicKey)
    return key !== undefined && verifyNode(null, message, key, signature)
  } catch {
    // An object that only pretends to be bytes.
    return false
  }
}

/**
 * Returns the verdict of `verify`, reached on another thread: quicker where many are under way at once. Nobody may
 * change the bytes meanwhile.
 */
export function verifyInBackground(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): Promise<boolean> {
  return new Promise((resolve) => {
    try {
      const key = findKey(signature, message, publicKey)
      if (key === undefined) resolve(false)
      else verifyNode(null, message, key, signature, (error, stands) => resolve(!error && stands))
    } catch {
      resolve(false)
    }
  })
}

/** Returns the key for the equation, when nothing else speaks against the signature. */
function findKey(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): KeyObject | undefined {
  if (!isBytes(signature, 64) || !isBytes(publicKey, 32)) return undefined
  if (!(message instanceof Uint8Array)) return undefined
  if (!isBelowOrder(signature) || !isStrongEncoding(signature)) return undefined
  return checkedKey(publicKey)
}

/**
 * Returns the 64-byte signature of `message`. Deterministic (RFC 8032 section 5.1.6).
 *
 * @param key - Seed of 32 bytes, or a private Ed25519 key object, which saves its making.
 * @throws {KeyError} `HSTORE_KEY_INVALID` when the key is of another length or kind.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when `message` or `key` is of another type.
 */
export function sign(message: Uint8Array, key: Uint8Array | KeyObject): Uint8Array {
  if (!(message instanceof Uint8Array)) throw new ArgumentError('message: wanted a Uint8Array')
  return Uint8Array.from(signNode(null, message, privateKeyOf(key)))
}

/**
 * Returns the private key object of a 32-byte seed; a key object is checked and given back.
 *
 * @throws {KeyError} `HSTORE_KEY_INVALID` when it is of another length or kind.
 * @throws {ArgumentError} `HSTORE_ARGUMENT_INVALID` when it is neither bytes nor a key object.
 */
export function privateKeyOf(key: Uint8Array | KeyObject): KeyObject {
  if (key instanceof KeyObject) {
    if (key.type === 'private' && key.asymmetricKeyType === 'ed25519') return key
    throw new KeyError('HSTORE_KEY_INVALID', 'this is no private Ed25519 key: give one')
  }
  if (!(key instanceof Uint8Array))
    throw new ArgumentError('key: wanted a Uint8Array or a KeyObject')
  if (key.length !== 32) {
    throw new KeyError('HSTORE_KEY_INVALID', `a seed has 32 bytes, not ${key.length}`)
  }
  const der = Buffer.concat([PKCS8_PREFIX, key])
  const made = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  der.fill(0)
  return made
}

/**
 * Returns the 32-byte public key that belongs to a seed or private key object.
 *
 * @throws {KeyError} `HSTORE_KEY_INVALID` when it is of another length or kind.
 */
export function publicKeyOf(key: Uint8Array | KeyObject): Uint8Array {
  const spki = createPublicKey(privateKeyOf(key)).export({ format: 'der', type: 'spki' })
  return Uint8Array.from(spki.subarray(SPKI_PREFIX.length))
}

/** Returns the DER form of a 32-byte public key (RFC 8410 section 4), which is not checked here. */
export function spkiOf(publicKey: Uint8Array): Buffer {
  return Buffer.concat([SPKI_PREFIX, publicKey])
}

/**
 * Returns whether these bytes may be an identity: 32 bytes, canonical, not of small order, a point on the curve.
 * Never throws.
 */
export function isPublicKey(publicKey: unknown): boolean {
  try {
    return isBytes(publicKey, 32) && (isChecked(publicKey) || isGood(new Uint8Array(publicKey)))
  } catch {
    return false
  }
}

function isBytes(value: unknown, length: number): value is Uint8Array {
  return value instanceof Uint8Array && value.length === length
}

function isChecked(publicKey: Uint8Array): boolean {
  return checkedKeys.get(nameOf(publicKey)) !== undefined
}

function isGood(bytes: Uint8Array): boolean {
  return isStrongEncoding(bytes) && isOnCurve(bytes)
}

function nameOf(publicKey: Uint8Array): string {
  return asBuffer(publicKey).toString('latin1', 0, 32)
}

function checkedKey(publicKey: Uint8Array): KeyObject | undefined {
  const name = nameOf(publicKey)
  const known = checkedKeys.get(name)
  if (known !== undefined) return known
  // From here on one copy, so that what is checked is what is kept.
  const bytes = Buffer.from(name, 'latin1')
  if (!isGood(bytes)) return undefined
  // A fifth of the time that the DER form takes.
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  checkedKeys.set(name, key)
  return key
}

/** S < L, from the top byte down: for an honest S the first byte tells, nearly always. */
function isBelowOrder(signature: Uint8Array): boolean {
  for (let i = 31; i >= 0; i--) {
    const difference = signature[32 + i]! - ORDER[i]!
    if (difference !== 0) return difference < 0
  }
  return false
}

/**
 * Returns whether the first 32 bytes encode a y below p that no point of small order has. A sign bit over x = 0 needs
 * no rule of its own: x is 0 only for y = 1 and y = p - 1, and both are refused.
 */
function isStrongEncoding(point: Uint8Array): boolean {
  if (!isBelowField(point)) return false
  for (const y of SMALL_ORDER_Y) if (hasY(point, y)) return false
  return true
}

function isBelowField(point: Uint8Array): boolean {
  if ((point[31]! & 0x7f) !== 0x7f) return true
  for (let i = 30; i > 0; i--) if (point[i] !== 0xff) return true
  return point[0]! < 0xed
}

function hasY(point: Uint8Array, y: Uint8Array): boolean {
  for (let i = 0; i < 31; i++) if (point[i] !== y[i]) return false
  return (point[31]! & 0x7f) === y[31]
}

/**
 * Returns whether there is an x for this y: x² = (y² - 1) / (d·y² + 1) has to be a square. A quotient is one exactly
 * when the product is. node:crypto imports any 32 bytes without a word.
 */
function isOnCurve(point: Uint8Array): boolean {
  const encoded = BigInt(`0x${asBuffer(point.toReversed()).toString('hex')}`)
  const y2 = (encoded & (2n ** 255n - 1n)) ** 2n % P
  return isSquare(((y2 - 1n + P) * (D * y2 + 1n)) % P)
}

/**
 * Returns whether a number from 1 to p - 1 is a square modulo p, by its Jacobi symbol: an eighth of the time of Euler's
 * criterion, which counts where a roster names thousands of keys. Not constant in time, for public keys only.
 */
function isSquare(number: bigint): boolean {
  let [top, bottom, isEven] = [number, P, true]
  while (top !== 0n) {
    while ((top & 1n) === 0n) {
      top >>= 1n
      const rest = bottom & 7n
      if (rest === 3n || rest === 5n) isEven = !isEven
    }
    if ((top & 3n) === 3n && (bottom & 3n) === 3n) isEven = !isEven
    ;[top, bottom] = [bottom % top, top]
  }
  return bottom === 1n && isEven
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'))
}
