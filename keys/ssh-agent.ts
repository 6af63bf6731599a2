import { equalBytes } from '../src/kernel/bytes.ts'
import { formatDidKey } from './did-key.ts'
import type { Did } from './did-key.ts'
import { verify } from './ed25519.ts'
import { KeyError } from './errors.ts'
import { pae } from './pae.ts'
import type { Signer } from './signer.ts'
import { askSshAgent } from './ssh-agent-exchange.ts'
import { SSH_ED25519, sshPublicKey, SshReader, sshString, sshUint32 } from './ssh-wire.ts'

/** Message numbers of the protocol. */
const FAILURE = 5
const REQUEST_IDENTITIES = 11
const IDENTITIES_ANSWER = 12
const SIGN_REQUEST = 13
const SIGN_RESPONSE = 14

const LIST_LIMIT_MS = 5000

/** Time for a person to confirm; shorter than others wait for the store, which is held meanwhile. */
const SIGN_LIMIT_MS = 20_000

/** What a trial signs: no entry and nothing that another program would take. */
const TRIAL_TYPE = 'application/vnd.hstore.trial'

/**
 * Returns a signer for a key that ssh-agent keeps. Every signature is checked before it is given out.
 *
 * @param publicKey - 32 bytes.
 * @param socketPath - As SSH_AUTH_SOCK names it; undefined where that is not set.
 * @throws {KeyError} `HSTORE_SSH_AGENT_MISSING` when there is no agent or none that answers in time and form,
 * `HSTORE_SSH_AGENT_REFUSED` when it does not hold the key; both, and for a signature, by `sign` too.
 * @see https://datatracker.ietf.org/doc/html/draft-ietf-sshm-ssh-agent
 */
export function openAgentSigner(publicKey: Uint8Array, socketPath: string | undefined): Signer {
  const did = formatDidKey(publicKey)
  if (socketPath === undefined || socketPath === '') {
    throw new KeyError(
      'HSTORE_SSH_AGENT_MISSING',
      `${did} is kept by ssh-agent, and SSH_AUTH_SOCK names none: start one, and set it`,
    )
  }
  const blob = sshPublicKey(publicKey)
  const held = readIdentities(socketPath)
  if (!held.some((one) => equalBytes(one, blob))) throw notHeld(socketPath, did, held.length)
  return {
    did,
    publicKey,
    level: 'agent',
    sign: (message) => signByAgent(socketPath, { did, publicKey, blob }, message),
  }
}

/**
 * Makes a signature that is thrown away: what the agent will refuse, it refuses now.
 *
 * @throws {KeyError} as the signer's `sign`.
 */
export function tryAgentSigner(signer: Signer): void {
  signer.sign(pae(TRIAL_TYPE, signer.publicKey))
}

function readIdentities(socketPath: string): Uint8Array[] {
  const answer = askSshAgent(socketPath, Uint8Array.of(REQUEST_IDENTITIES), LIST_LIMIT_MS)
  if (answer[0] === FAILURE) {
    throw refused(`the ssh-agent at ${socketPath} does not say which keys it holds`)
  }
  return readAnswer(socketPath, answer, IDENTITIES_ANSWER, (reader) => {
    const blobs: Uint8Array[] = []
    for (let left = reader.uint32(); left > 0; left--) {
      blobs.push(reader.string())
      reader.string() // the comment
    }
    return blobs
  })
}

interface Held {
  readonly did: Did
  readonly publicKey: Uint8Array
  readonly blob: Uint8Array
}

function signByAgent(
  socketPath: string,
  { did, publicKey, blob }: Held,
  message: Uint8Array,
): Uint8Array {
  const head = Uint8Array.of(SIGN_REQUEST)
  const request = Buffer.concat([head, sshString(blob), sshString(message), sshUint32(0)])
  const answer = askSshAgent(socketPath, request, SIGN_LIMIT_MS)
  if (answer[0] === FAILURE) {
    throw refused(
      `ssh-agent does not sign with ${did}: nobody confirmed it, the agent is locked or the key gone, or it is bound to destinations (ssh-add -h) and signs nothing else`,
    )
  }
  const signature = readAnswer(socketPath, answer, SIGN_RESPONSE, readSignature)
  if (verify(signature, message, publicKey)) return signature
  throw refused(`ssh-agent gave a signature by ${did} that does not stand: it was not used`)
}

function readSignature(reader: SshReader): Uint8Array {
  const inner = new SshReader(reader.string(), 'the signature')
  const type = inner.text()
  const signature = Uint8Array.from(inner.string())
  inner.expectEnd()
  return type === SSH_ED25519 ? signature : new Uint8Array()
}

function readAnswer<T>(
  socketPath: string,
  answer: Uint8Array,
  type: number,
  read: (reader: SshReader) => T,
): T {
  const told = `the ssh-agent at ${socketPath} gave an answer that is none`
  if (answer[0] !== type) throw new KeyError('HSTORE_SSH_AGENT_MISSING', told)
  try {
    const reader = new SshReader(answer.subarray(1), 'the answer')
    const result = read(reader)
    reader.expectEnd()
    return result
  } catch (cause) {
    if (!(cause instanceof KeyError)) throw cause
    throw new KeyError('HSTORE_SSH_AGENT_MISSING', `${told}: ${cause.message}`, { cause })
  }
}

function notHeld(socketPath: string, did: Did, held: number): KeyError {
  const how = 'add it with ssh-add FILE'
  return refused(
    held === 0
      ? `the ssh-agent at ${socketPath} shows no key: unlock it with ssh-add -X if it is locked, or ${how}`
      : `the ssh-agent at ${socketPath} does not hold ${did}: ${how}`,
  )
}

function refused(message: string): KeyError {
  return new KeyError('HSTORE_SSH_AGENT_REFUSED', message)
}
