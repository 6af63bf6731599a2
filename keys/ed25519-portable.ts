import { Point } from '@noble/ed25519'
import { sha512 } from '@noble/hashes/sha2.js'

const ORDER = Point.CURVE().n

/**
 * Returns the verdict of `verify` in keys/ed25519.ts, from other code: point arithmetic and hash in JavaScript only.
 * About 20 times slower; never a silent stand-in for the other. Never throws.
 *
 * noble's own `verify` is of no use here: with or without ZIP-215 it leaves a cofactor out of account.
 *
 * @param signature - 64 bytes: R, then S.
 * @param publicKey - 32 bytes: A.
 */
export function verifyPortable(
  signature: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): boolean {
  try {
    if (!isBytes(signature) || !isBytes(message) || !isBytes(publicKey)) return false
    const [sig, key] = [new Uint8Array(signature), new Uint8Array(publicKey)]
    return sig.length === 64 && key.length === 32 && isEquationMet(sig, message, key)
  } catch {
    // noble throws on points that do not decode.
    return false
  }
}

function isEquationMet(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  const r = signature.subarray(0, 32)
  const s = numberOf(signature.subarray(32))
  if (s >= ORDER) return false
  const a = strongPoint(publicKey)
  if (a === undefined || strongPoint(r) === undefined) return false
  const hash = sha512.create().update(r).update(publicKey).update(message).digest()
  const k = numberOf(hash) % ORDER
  // Unsafe mode is for public values, as these are, and it takes a factor of 0.
  const expected = Point.BASE.multiply(s, false).add(a.multiply(k, false).negate()).toBytes()
  return r.every((byte, i) => byte === expected[i])
}

/** Returns the point, or undefined when it is of small order; throws when it is not canonical or not on the curve. */
function strongPoint(bytes: Uint8Array): Point | undefined {
  const point = Point.fromBytes(bytes, false)
  return point.isSmallOrder() ? undefined : point
}

function numberOf(bytes: Uint8Array): bigint {
  let result = 0n
  for (let i = bytes.length - 1; i >= 0; i--) result = (result << 8n) | BigInt(bytes[i]!)
  return result
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array
}
