import type { Finding, Severity } from '../../rules/rule.ts'

/** A key or list position on the way from the root of an envelope. */
export type Segment = number | string

/** A finding of the handoff profile. */
export interface CsagFinding extends Finding {
  readonly path: string
  readonly pointer: string
  /** For CSAG-H-015: the schema rule that the paper breaks. */
  readonly schemaCode?: string
}

/** A judgement lists no more findings: whoever has as many has enough to do, and a hostile file can't fill the memory. */
export const MAX_FINDINGS: number = 10_000

/** Returns a finding whose path has list positions in brackets, as the semantic rules spell it. */
export function placedFinding(
  code: string,
  place: readonly Segment[],
  message: string,
  severity: Severity = 'error',
): CsagFinding {
  let path = 'handoff'
  for (const segment of place) path += typeof segment === 'number' ? `[${segment}]` : `.${segment}`
  return { code, severity, message, path, pointer: pointerOf(place) }
}

/** Returns a finding whose path has list positions after dots, as the schema rules spell it. */
export function schemaFinding(
  code: string,
  place: readonly Segment[],
  message: string,
): CsagFinding {
  const path = ['handoff', ...place].join('.')
  return { code, severity: 'error', message, path, pointer: pointerOf(place) }
}

/** Returns the place as a JSON pointer (RFC 6901). */
export function pointerOf(place: readonly Segment[]): string {
  let pointer = ''
  for (const segment of place) {
    pointer += `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`
  }
  return pointer
}

const SHOWN_CHARACTERS = 120

/**
 * Returns text from a document in double quotes, on one line and in ASCII escapes where it is not printable, cut after
 * 120 characters.
 */
export function quote(text: string): string {
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text
  return JSON.stringify(shown).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
