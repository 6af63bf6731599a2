import type { KeyObject } from 'node:crypto'
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, rename, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { equalBytes } from '../src/kernel/bytes.ts'
import { whyOf } from '../src/kernel/errno.ts'
import { makeFolder } from '../src/kernel/files.ts'
import { forgetTemporary, noteTemporary } from '../src/kernel/temporaries.ts'
import { privateKeyOf, publicKeyOf } from './ed25519.ts'
import { KeyError } from './errors.ts'
import { formatOpenSSHPublicKey, parseOpenSSHPublicKey } from './openssh-public.ts'
import type { OpenSSHPublicKey } from './openssh-public.ts'
import { KEY_FILE_LIMIT } from './pem.ts'
import { formatEncryptedPkcs8, formatPkcs8, parsePkcs8, unlockPkcs8 } from './pkcs8.ts'
import type { Pkcs8 } from './pkcs8.ts'

/** A key that is open for signing. */
export interface OpenKey {
  readonly seed: Uint8Array
  readonly privateKey: KeyObject
  readonly publicKey: Uint8Array
}

/** What a key file shows without its passphrase. */
export interface KeyFileFacts {
  readonly publicKey: Uint8Array
  readonly comment: string
  readonly encrypted: boolean
}

/**
 * Writes a key file and, beside it, `<path>.pub` with the public half in OpenSSH's form, so that listing needs no
 * passphrase. The file has mode 0600 from its first byte, a folder that is missing is made with mode 0700, and what
 * stands there already is never replaced, also when two do this at once. On return both are on disk.
 *
 * @param seed - 32 bytes.
 * @param passphrase - None: the file is not encrypted.
 * @param comment - Free text for the public half; the file's name without `.pem` when it is absent.
 * @throws {KeyError} `HSTORE_KEY_EXISTS` when there is a file, `HSTORE_KEY_INVALID` when the seed has another length,
 * `HSTORE_PASSPHRASE_NEEDED` when the passphrase is empty; an error of node:fs when the folder can't be written.
 */
export async function createKeyFile(
  path: string,
  seed: Uint8Array,
  passphrase: string | undefined,
  comment: string = nameOf(path),
): Promise<void> {
  const publicKey = publicKeyOf(seed)
  if (passphrase === '') {
    throw new KeyError(
      'HSTORE_PASSPHRASE_NEEDED',
      'a passphrase can not be empty: give one, or none',
    )
  }
  const text = passphrase === undefined ? formatPkcs8(seed) : formatEncryptedPkcs8(seed, passphrase)
  await makeFolder(dirname(path), 0o700)
  await writeThrough(dirname(path), text, 0o600, (temporary) => linkNew(temporary, path))
  // Only who made the key writes this: a public half that some older key left behind is replaced.
  await writePublicHalf(path, publicKey, comment)
}

/**
 * Returns the key in a key file. A public half that is missing beside it is written again, where that is possible.
 *
 * @throws {KeyError} `HSTORE_KEY_NOT_FOUND` without a file, `HSTORE_KEY_EXPOSED` when others own it or may use it,
 * `HSTORE_KEY_INVALID` when it is damaged, no ordinary file, above 64 KiB or at odds with its public half,
 * `HSTORE_PASSPHRASE_NEEDED` and `HSTORE_PASSPHRASE_WRONG`.
 */
export async function readKeyFile(path: string, passphrase: string | undefined): Promise<OpenKey> {
  const file = await readSecretHalf(path)
  const half = await readPublicHalf(path)
  const seed = 'seed' in file ? file.seed : unlockPkcs8(file.locked, passphrase)
  const privateKey = privateKeyOf(seed)
  const publicKey = publicKeyOf(privateKey)
  if (half === undefined) await mendPublicHalf(path, publicKey)
  else expectSame(path, half.publicKey, publicKey)
  return { seed, privateKey, publicKey }
}

/**
 * Returns what a key file shows without its passphrase. Writes nothing.
 *
 * @throws {KeyError} as `readKeyFile`, but for the passphrase; `HSTORE_KEY_INVALID` also when the key is encrypted and
 * its public half missing.
 */
export async function inspectKeyFile(path: string): Promise<KeyFileFacts> {
  const file = await readSecretHalf(path)
  const half = await readPublicHalf(path)
  if ('seed' in file) {
    const publicKey = publicKeyOf(file.seed)
    if (half !== undefined) expectSame(path, half.publicKey, publicKey)
    return { publicKey, comment: half?.comment ?? '', encrypted: false }
  }
  if (half === undefined) {
    const how = 'use the key once with its passphrase, and it is written again'
    throw new KeyError('HSTORE_KEY_INVALID', `${path}.pub, the public half, is missing: ${how}`)
  }
  return { ...half, encrypted: true }
}

async function readSecretHalf(path: string): Promise<Pkcs8> {
  const bytes = await readRegular(path, true)
  if (bytes === undefined) {
    throw new KeyError('HSTORE_KEY_NOT_FOUND', `there is no key file ${path}: make or import a key`)
  }
  return withPath(path, () => parsePkcs8(bytes))
}

async function readPublicHalf(path: string): Promise<OpenSSHPublicKey | undefined> {
  const bytes = await readRegular(`${path}.pub`, false)
  return bytes && withPath(`${path}.pub`, () => parseOpenSSHPublicKey(bytes))
}

/**
 * Returns the bytes of an ordinary file of at most 64 KiB, or undefined when there is none.
 *
 * @param secret - Whether others may neither own it nor use it.
 * @throws {KeyError} `HSTORE_KEY_INVALID`, `HSTORE_KEY_EXPOSED`.
 */
export async function readRegular(path: string, secret: boolean): Promise<Uint8Array | undefined> {
  let file: FileHandle
  try {
    // Not through a link, and not waiting for the other end of a pipe.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
    file = await open(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0))
  } catch (cause) {
    return unopened(path, cause)
  }
  try {
    const { mode, uid, size } = await assertRegular(path, file)
    if (secret) assertOwn(path, mode, uid)
    const buffer = Buffer.alloc(size)
    const { bytesRead } = await file.read(buffer, 0, size, 0)
    return Uint8Array.from(buffer.subarray(0, bytesRead))
  } finally {
    await file.close()
  }
}

async function assertRegular(
  path: string,
  file: FileHandle,
): Promise<{ mode: number; uid: number; size: number }> {
  const stat = await file.stat()
  if (!stat.isFile()) throw notOrdinary(path)
  if (stat.size > KEY_FILE_LIMIT) {
    throw new KeyError('HSTORE_KEY_INVALID', `${path} has ${stat.size} bytes: it is no key file`)
  }
  return stat
}

function assertOwn(path: string, mode: number, uid: number): void {
  const user = process.getuid?.()
  if (user === undefined) return
  if (uid !== user) {
    const how = 'chown it, or make a key of your own'
    throw new KeyError('HSTORE_KEY_EXPOSED', `${path} belongs to another user (${uid}): ${how}`)
  }
  if ((mode & 0o077) === 0) return
  const shown = (mode & 0o777).toString(8).padStart(4, '0')
  throw new KeyError(
    'HSTORE_KEY_EXPOSED',
    `others may use ${path} (mode ${shown}): run chmod 600 ${path}, and think about a new key`,
  )
}

function unopened(path: string, cause: unknown): undefined {
  const code = (cause as NodeJS.ErrnoException).code ?? ''
  if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
  if (code === 'ELOOP' || code === 'ENXIO') throw notOrdinary(path)
  throw new KeyError('HSTORE_KEY_INVALID', `${path} can't be read: ${whyOf(cause)}`, { cause })
}

function notOrdinary(path: string): KeyError {
  const what = 'is a link, a folder or a device'
  return new KeyError('HSTORE_KEY_INVALID', `${path} ${what}: put an ordinary file there`)
}

function expectSame(path: string, shown: Uint8Array, own: Uint8Array): void {
  if (equalBytes(shown, own)) return
  const how = 'remove the .pub file if the key is the right one'
  throw new KeyError(
    'HSTORE_KEY_INVALID',
    `${path}.pub belongs to another key than ${path}: ${how}`,
  )
}

/** Runs `parse` and puts the file in front of its message. */
export function withPath<T>(path: string, parse: () => T): T {
  try {
    return parse()
  } catch (cause) {
    if (!(cause instanceof KeyError)) throw cause
    throw new KeyError(cause.code, `${path}: ${cause.message}`, { cause })
  }
}

function nameOf(path: string): string {
  const name = basename(path, '.pem')
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

async function writePublicHalf(
  path: string,
  publicKey: Uint8Array,
  comment: string,
): Promise<void> {
  const line = formatOpenSSHPublicKey(publicKey, comment)
  await writeThrough(dirname(path), line, 0o644, (temporary) => rename(temporary, `${path}.pub`))
}

/** Best effort: the folder may be read-only. Never over a file that whoever makes the key writes at this moment. */
async function mendPublicHalf(path: string, publicKey: Uint8Array): Promise<void> {
  const line = formatOpenSSHPublicKey(publicKey, nameOf(path))
  const place = (temporary: string): Promise<void> => link(temporary, `${path}.pub`)
  await writeThrough(dirname(path), line, 0o644, place).catch(() => {})
}

/** Writes a temporary file, syncs it, lets `place` give it its name and syncs the folder. */
export async function writeThrough(
  folder: string,
  text: string,
  mode: number,
  place: (temporary: string) => Promise<void>,
): Promise<void> {
  const temporary = join(folder, `.new-${randomBytes(8).toString('hex')}`)
  noteTemporary(temporary)
  try {
    const file = await open(temporary, 'wx', mode)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await place(temporary)
  } finally {
    await unlink(temporary).catch(() => {})
    forgetTemporary(temporary)
  }
  await syncFolder(folder)
}

/** Gives a file its name unless there is one of that name: {KeyError} `HSTORE_KEY_EXISTS`. */
export async function linkNew(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
    const how = 'use that key, or take it away first'
    throw new KeyError('HSTORE_KEY_EXISTS', `${path} exists: ${how}`, { cause })
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
