import { createHash } from 'node:crypto'
import { isDidKey, parseDidKey } from './did-key.ts'
import type { Did } from './did-key.ts'
import { verify } from './ed25519.ts'
import type { Signer } from './signer.ts'

/*
 * HTTP Message Signatures (RFC 9421) in the one form that hstore makes and takes: Ed25519 over method, authority, target and
 * the digest of the content (RFC 9530), with the time and a nonce.
 */

/** What a signature covers of a request. */
export interface SignedRequest {
  readonly method: string
  /** Host and port as the client names them. */
  readonly authority: string
  /** Path and query. */
  readonly target: string
  /** The value of Content-Digest. */
  readonly digest: string
}

/** What a signature says of itself. */
export interface SignatureFacts {
  readonly did: Did
  /** When it was made, in s since 1970. */
  readonly created: number
  /** 16 random bytes as base64url. */
  readonly nonce: string
}

/** The headers of a signature. */
export interface SignatureHeaders {
  readonly 'signature-input': string
  readonly signature: string
}

const inputForm =
  /^hstore=(\("@method" "@authority" "@request-target" "content-digest"\);created=(\d{1,12});nonce="([A-Za-z0-9_-]{22})";keyid="(did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44})";alg="ed25519";tag="hstore")$/
const signatureForm = /^hstore=:([A-Za-z0-9+/]{86}==):$/

/** Returns the value of Content-Digest for some content (RFC 9530, section 2). */
export function contentDigest(content: Uint8Array): string {
  const digest = new ContentDigest()
  digest.update(content)
  return digest.value()
}

/** The same of content that comes piece by piece. */
export class ContentDigest {
  readonly #hash = createHash('sha256')

  update(chunk: Uint8Array): void {
    this.#hash.update(chunk)
  }

  /** To be called once, at the end. */
  value(): string {
    return `sha-256=:${this.#hash.digest('base64')}:`
  }
}

/** Returns the headers that sign a request. */
export function signRequest(
  request: SignedRequest,
  { created, nonce }: Omit<SignatureFacts, 'did'>,
  signer: Signer,
): SignatureHeaders {
  const components = '("@method" "@authority" "@request-target" "content-digest")'
  const parameters = `${components};created=${created};nonce="${nonce}";keyid="${signer.did}";alg="ed25519";tag="hstore"`
  const signature = signer.sign(signatureBase(request, parameters))
  return {
    'signature-input': `hstore=${parameters}`,
    signature: `hstore=:${Buffer.from(signature).toString('base64')}:`,
  }
}

/**
 * Returns what a request's signature says when it stands, or undefined. Says nothing of its time, its nonce, nor of the
 * rights of the key.
 */
export function findSignature(
  request: SignedRequest,
  headers: { readonly [name: string]: string | readonly string[] | undefined },
): SignatureFacts | undefined {
  const [, parameters, created, nonce, did] =
    inputForm.exec(textOf(headers['signature-input'])) ?? []
  const [, signature] = signatureForm.exec(textOf(headers['signature'])) ?? []
  if (parameters === undefined || nonce === undefined || signature === undefined) return undefined
  if (did === undefined || !isDidKey(did)) return undefined
  const base = signatureBase(request, parameters)
  const stands = verify(new Uint8Array(Buffer.from(signature, 'base64')), base, parseDidKey(did))
  return stands ? { did, created: Number(created), nonce } : undefined
}

function textOf(value: string | readonly string[] | undefined): string {
  return typeof value === 'string' ? value : ''
}

/** The bytes that are signed (RFC 9421, section 2.5). */
function signatureBase(
  { method, authority, target, digest }: SignedRequest,
  parameters: string,
): Uint8Array {
  const lines = [
    `"@method": ${method}`,
    `"@authority": ${authority.toLowerCase()}`,
    `"@request-target": ${target}`,
    `"content-digest": ${digest}`,
    `"@signature-params": ${parameters}`,
  ]
  return new TextEncoder().encode(lines.join('\n'))
}
