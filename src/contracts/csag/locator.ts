import { isIPv6 } from 'node:net'

/** What a locator (`artifact_path`, and the text of `environment` before its last `#sha256=`) turns out to be. */
export type Locator =
  /** Not fetched and not checked. */
  | { readonly kind: 'remote' }
  /** A path below the bundle, or the bundle itself where `segments` is empty. */
  | { readonly kind: 'local'; readonly segments: readonly string[] }
  | { readonly kind: LocatorFault; readonly reason: string }

/** Why a locator is refused: CSAG-H-007 to CSAG-H-010 in this order. */
export type LocatorFault = 'absolute' | 'escape' | 'file-scheme' | 'malformed'

const REMOTE: Locator = { kind: 'remote' }

/**
 * Returns what `text` locates. Looks at the text only: where links lead is for the bundle to say.
 *
 * Splits as CPython's `urlsplit` and `unquote` do, in the versions that refuse text beside a bracketed host; a `URL`
 * object would normalise what has to stay.
 */
export function parseLocator(text: string): Locator {
  // oxlint-disable-next-line no-control-regex -- these are the characters that upstream drops
  const stripped = printable.test(text) ? text : removeBreaks(text.replace(/^[\0-\u0020]+/, ''))
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(stripped)?.[0]
  const rest = scheme === undefined ? stripped : stripped.slice(scheme.length + 1)
  const [start, authority = ''] = /^\/\/([^/?#]*)/.exec(rest) ?? ['']
  if (!isAuthority(authority)) return fault('malformed', 'the authority is malformed')
  if (scheme?.toLowerCase() === 'file')
    return fault('file-scheme', 'the file scheme is not allowed')
  if (scheme !== undefined || authority !== '') return REMOTE
  return parsePath(unquote(rest.slice(start.length).replace(/[?#][^]*/, '')))
}

/** Nothing to drop: nearly every locator. */
const printable = /^[!-~]+$/

/** Two halves of a surrogate pair that a tab kept apart stay two lone surrogates, so the second becomes a first half. */
function removeBreaks(text: string): string {
  if (!/[\t\r\n]/.test(text)) return text
  return text
    .replaceAll(/([\ud800-\udbff])[\t\r\n]+[\udc00-\udfff]/g, '$1\ud800')
    .replaceAll(/[\t\r\n]/g, '')
}

function parsePath(path: string): Locator {
  const segments = splitPath(path)
  if (path.startsWith('/')) return fault('absolute', 'the path is absolute')
  if (segments[0]?.startsWith('~'))
    return fault('absolute', 'the path begins with a home directory')
  if (!isPathText(path))
    return fault('malformed', 'the path has a character that no file name can have')
  if (leavesRoot(segments)) return fault('escape', 'the path leads out of the bundle')
  return { kind: 'local', segments }
}

/** Returns the segments of a path without empty and single-dot ones. */
export function splitPath(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '' && segment !== '.')
}

/** Returns whether `..` leads above the start at any point. */
export function leavesRoot(segments: readonly string[]): boolean {
  let depth = 0
  for (const segment of segments) {
    depth += segment === '..' ? -1 : 1
    if (depth < 0) return true
  }
  return false
}

/** Returns the segments with each `..` and what it takes back removed. */
export function normalizeSegments(segments: readonly string[]): string[] {
  const result: string[] = []
  for (const segment of segments) {
    if (segment === '..') result.pop()
    else result.push(segment)
  }
  return result
}

/**
 * Returns whether a path can be handed to the system: no NUL, no lone surrogate. U+DC80 to U+DCFF pass, since CPython
 * takes them for single bytes; they name nothing here.
 */
export function isPathText(path: string): boolean {
  return !path.includes('\0') && !/[\ud800-\udc7f\udd00-\udfff]/u.test(path)
}

/** Percent-decodes as UTF-8: undecodable bytes become U+FFFD, invalid escapes and plus stay. */
function unquote(text: string): string {
  return text.replaceAll(/(?:%[0-9a-fA-F]{2})+/g, (escapes) =>
    lossyUtf8.decode(Buffer.from(escapes.replaceAll('%', ''), 'hex')),
  )
}

const lossyUtf8 = new TextDecoder('utf-8', { ignoreBOM: true })

function isAuthority(authority: string): boolean {
  if (/^[\w.:@-]*$/.test(authority)) return true
  const opens = authority.includes('[')
  if (opens !== authority.includes(']')) return false
  if (opens && !hasBracketedHost(authority)) return false
  if (!/[\u0080-\uffff]/.test(authority)) return true
  // one of each, since no character of these comes out of others
  const text = [...new Set(authority.replaceAll(/[@:]/g, ''))].join('')
  const normal = text.normalize('NFKC')
  return normal === text || !/[/?#@:]/.test(normal)
}

function hasBracketedHost(authority: string): boolean {
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  const [, last] = /^\[([^\]]*)(?:\]$|\]:|$)/.exec(host) ?? []
  // Older versions of CPython look at the first pair of brackets, newer ones behind the last at sign.
  const [, first] = /\[([^\]]*)/.exec(authority) ?? []
  return isHostLiteral(last) && isHostLiteral(first)
}

function isHostLiteral(text: string | undefined): boolean {
  if (text === undefined) return false
  return text.startsWith('v') ? /^v[a-fA-F0-9]+\.[^]/.test(text) : isIPv6Literal(text)
}

/** An IPv6 address as CPython's `ipaddress` takes it: with any scope after one percent sign. */
function isIPv6Literal(text: string): boolean {
  const [address = '', ...scopes] = text.split('%')
  return isIPv6(address) && (scopes.length === 0 || (scopes.length === 1 && scopes[0] !== ''))
}

function fault(kind: LocatorFault, reason: string): Locator {
  return { kind, reason }
}
