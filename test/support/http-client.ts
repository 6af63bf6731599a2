import { randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { contentDigest, signRequest } from '../../keys/http-signature.ts'
import type { Signer } from '../../keys/signer.ts'
import { decodeMessage, encodeMessage } from '../../store/wire.ts'
import type { Message } from '../../store/wire.ts'

/** How a request is made that `serve` gets; what is left out is as an honest client has it. */
export interface Asked {
  readonly signer?: Signer
  readonly created?: number
  readonly nonce?: string
  readonly method?: string
  readonly target?: string
  readonly authority?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns a message as it goes over the wire. */
export async function packed(message: Message): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of encodeMessage(message)) chunks.push(chunk)
  return new Uint8Array(Buffer.concat(chunks))
}

/** Posts a message, signed as told. */
export async function post(
  url: string,
  message: Message['control'] | Uint8Array,
  asked: Asked = {},
): Promise<Response> {
  const isPacked = message instanceof Uint8Array
  const content = isPacked ? message : await packed({ control: message, blocks: [] })
  const digest = contentDigest(content)
  const {
    signer,
    created = Math.floor(Date.now() / 1000),
    nonce = randomBytes(16).toString('base64url'),
  } = asked
  const { method = 'POST', target = '/hstore', authority = new URL(url).host } = asked
  const signed = { method, authority, target, digest }
  const signature = signer === undefined ? {} : signRequest(signed, { created, nonce }, signer)
  return fetch(`${url}/hstore`, {
    method: 'POST',
    body: Buffer.from(content),
    headers: { 'content-digest': digest, ...signature, ...asked.headers },
  })
}

/** Returns the control block of an answer. */
export async function told(response: Response): Promise<Message['control']> {
  expect(response.status).toBe(200)
  const { control } = await decodeMessage(response.body as AsyncIterable<Uint8Array>)
  return control
}
