import { writeCanonical } from '../../store/canonical-write.ts'

/**
 * Returns the canonical bytes of the value that a text has for the platform's own parser, or undefined when there are
 * none: reached without hstore's scanner, so that the two can be held against each other.
 */
export function canonicalSpelling(bytes: Uint8Array): Uint8Array | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return writeCanonical(JSON.parse(text))
  } catch {
    return undefined
  }
}
