import { dirname } from 'node:path'
import { makeFolder } from '../src/kernel/files.ts'
import { linkNew, readRegular, withPath, writeThrough } from './key-file.ts'
import { formatOpenSSHPublicKey, parseOpenSSHPublicKey } from './openssh-public.ts'
import type { OpenSSHPublicKey } from './openssh-public.ts'

/**
 * Writes down that an agent's key is kept by ssh-agent: its public half, in OpenSSH's form. What stands there already
 * is never replaced. On return it is on disk.
 *
 * @throws {KeyError} `HSTORE_KEY_EXISTS` when there is a file; an error of node:fs when the folder can't be written.
 */
export async function createKeyReference(
  path: string,
  { publicKey, comment }: OpenSSHPublicKey,
): Promise<void> {
  await makeFolder(dirname(path), 0o700)
  const line = formatOpenSSHPublicKey(publicKey, comment)
  await writeThrough(dirname(path), line, 0o600, (temporary) => linkNew(temporary, path))
}

/**
 * Returns the key that ssh-agent keeps, or undefined when there is no such file.
 *
 * @throws {KeyError} `HSTORE_KEY_INVALID` when the file is damaged, no ordinary file or above 64 KiB.
 */
export async function findKeyReference(path: string): Promise<OpenSSHPublicKey | undefined> {
  const bytes = await readRegular(path, false)
  return bytes && withPath(path, () => parseOpenSSHPublicKey(bytes))
}
