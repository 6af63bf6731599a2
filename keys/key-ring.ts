import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { compareUtf8 } from '../src/kernel/bytes.ts'
import { whyOf } from '../src/kernel/errno.ts'
import { formatDidKey } from './did-key.ts'
import type { Did } from './did-key.ts'
import { KeyError } from './errors.ts'
import { inspectKeyFile } from './key-file.ts'
import { findKeyReference } from './key-reference.ts'
import type { OpenSSHPublicKey } from './openssh-public.ts'

/** One agent's key in a folder of keys. Where `problem` stands, the file can't be used as it is. */
export interface KeyEntry {
  readonly agent: string
  /** Absent when the file does not show it. */
  readonly did?: Did
  /** `agent` where ssh-agent keeps the key and the file says only which. */
  readonly level: 'file' | 'agent'
  readonly path: string
  readonly comment?: string
  readonly encrypted: boolean
  /** What is wrong and what to do, in one line. */
  readonly problem?: string
}

const SUFFIX = '.pem'

const REFERENCE_SUFFIX = '.agent'

/** File systems take 255 bytes a name, and `.pub` comes behind this one. */
const NAME_LIMIT = 251

const NAME = /^(.+)\.(?:pem|agent)$/

const encoder = new TextEncoder()

/**
 * Returns the path of an agent's key file: the agent percent-encoded, but for ASCII letters, digits and `-._~`, then
 * `.pem`. A dot in front is encoded too, so that no name is hidden or means a folder. Two agents never share a path.
 *
 * @param agent - 1 to 1,024 bytes without control characters; its file name at most 251 bytes.
 * @throws {KeyError} `HSTORE_KEY_INVALID` when it has another form.
 */
export function keyPath(dir: string, agent: string): string {
  return join(dir, fileNameOf(agent))
}

/**
 * Returns the path of the file that says which key ssh-agent keeps for an agent: as `keyPath`, but `.agent` at the end.
 *
 * @throws {KeyError} as `keyPath`.
 */
export function keyReferencePath(dir: string, agent: string): string {
  return join(dir, referenceNameOf(agent))
}

/**
 * Returns the key that ssh-agent keeps for an agent, or undefined when it keeps none.
 *
 * @throws {KeyError} `HSTORE_KEY_INVALID` when the file that says so is damaged, or when there is a key file too: it is
 * not guessed which one is meant.
 */
export async function findAgentKey(
  dir: string,
  agent: string,
): Promise<OpenSSHPublicKey | undefined> {
  const path = keyReferencePath(dir, agent)
  const key = await findKeyReference(path)
  if (key === undefined || !(await fileNames(dir)).includes(fileNameOf(agent))) return key
  throw new KeyError(
    'HSTORE_KEY_INVALID',
    `${agent} has a key file and, in ${path}, a key that ssh-agent keeps: take one of the two away`,
  )
}

/** Returns the agent whose key a file of this name holds, or undefined when it is none of `keyPath`'s names. */
export function agentOf(fileName: string): string | undefined {
  const [, encoded] = NAME.exec(fileName) ?? []
  if (encoded === undefined) return undefined
  try {
    const agent = decodeURIComponent(encoded)
    const names = [fileNameOf(agent), referenceNameOf(agent)]
    return names.includes(fileName) ? agent : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the keys in a folder, sorted by agent. Other files are passed over; a key file that is broken or exposed is
 * listed with its `problem`. A folder that does not exist holds none.
 *
 * @throws {KeyError} `HSTORE_KEY_NOT_FOUND` when the folder can't be read.
 */
export async function listKeys(dir: string): Promise<KeyEntry[]> {
  const agents = new Set((await fileNames(dir)).flatMap((name) => agentOf(name) ?? []))
  const entries: KeyEntry[] = []
  for (const agent of [...agents].sort(compareUtf8)) entries.push(await entryOf(dir, agent))
  return entries
}

/**
 * Returns the key of one agent, or undefined when the folder has none. Names count exactly, also on file systems that
 * do not tell capital letters from small ones.
 *
 * @throws {KeyError} `HSTORE_KEY_INVALID` when no file can be named after the agent, `HSTORE_KEY_NOT_FOUND` when the
 * folder can't be read.
 */
export async function findKey(dir: string, agent: string): Promise<KeyEntry | undefined> {
  const names = await fileNames(dir)
  const isThere = names.includes(fileNameOf(agent)) || names.includes(referenceNameOf(agent))
  return isThere ? entryOf(dir, agent) : undefined
}

async function entryOf(dir: string, agent: string): Promise<KeyEntry> {
  const path = keyPath(dir, agent)
  try {
    const kept = await findAgentKey(dir, agent)
    const { publicKey, comment, encrypted } =
      kept === undefined ? await inspectKeyFile(path) : { ...kept, encrypted: false }
    const place =
      kept === undefined
        ? ({ level: 'file', path } as const)
        : ({ level: 'agent', path: keyReferencePath(dir, agent) } as const)
    const entry = { agent, did: formatDidKey(publicKey), ...place, encrypted }
    return comment === '' ? entry : { ...entry, comment }
  } catch (error) {
    if (!(error instanceof KeyError)) throw error
    return { agent, level: 'file', path, encrypted: false, problem: error.message }
  }
}

async function fileNames(dir: string): Promise<string[]> {
  try {
    return await readdir(dir)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? ''
    if (code === 'ENOENT') return []
    throw new KeyError('HSTORE_KEY_NOT_FOUND', `${dir} can't hold keys: ${whyOf(cause)}`, { cause })
  }
}

function referenceNameOf(agent: string): string {
  return fileNameOf(agent).slice(0, -SUFFIX.length) + REFERENCE_SUFFIX
}

function fileNameOf(agent: string): string {
  const bytes = encoder.encode(agent)
  const isClean = !/[\p{Control}\p{Surrogate}]/u.test(agent)
  if (bytes.length < 1 || bytes.length > 1024 || !isClean) {
    throw new KeyError(
      'HSTORE_KEY_INVALID',
      'an agent has a name of 1 to 1024 bytes without control characters: give such a name',
    )
  }
  const encoded = encodeURIComponent(agent).replaceAll(/^\.|[!'()*]/g, percent)
  if (encoded.length + SUFFIX.length <= NAME_LIMIT) return encoded + SUFFIX
  throw new KeyError(
    'HSTORE_KEY_INVALID',
    `the agent's key file would have a name of ${encoded.length + SUFFIX.length} bytes, where file systems take ${NAME_LIMIT}: use a shorter name`,
  )
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
