import { createPrivateKey } from 'node:crypto'
import {
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { privateKeyOf, publicKeyOf, sign } from '../../keys/ed25519.ts'
import { createKeyFile, inspectKeyFile, readKeyFile } from '../../keys/key-file.ts'
import { formatOpenSSHPublicKey } from '../../keys/openssh-public.ts'
import { formatOpenSSHKey } from '../../keys/openssh.ts'
import { formatPkcs8 } from '../../keys/pkcs8.ts'
import { codeOfPromise, hasProgram, outputOf, tempFolder } from './support.ts'

const seed = new Uint8Array(32).fill(7)
const publicKey = publicKeyOf(seed)
const other = new Uint8Array(32).fill(8)
const invalid = 'HSTORE_KEY_INVALID'

async function tempKey(passphrase?: string): Promise<string> {
  const path = join(await tempFolder(), 'keys', 'agent%3Aa.pem')
  await createKeyFile(path, seed, passphrase)
  return path
}

describe('createKeyFile', () => {
  it('makes folder and file for the owner only, and leaves nothing else behind', async () => {
    const path = await tempKey()
    expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await readdir(join(path, '..'))).sort()).toEqual(['agent%3Aa.pem', 'agent%3Aa.pem.pub'])
    expect(await readFile(path, 'utf8')).toBe(formatPkcs8(seed))
    const line = formatOpenSSHPublicKey(publicKey, 'agent:a')
    expect(await readFile(`${path}.pub`, 'utf8')).toBe(line)
  })

  it('writes what node opens with the passphrase', async () => {
    const path = await tempKey('pass 鍵')
    const text = await readFile(path, 'utf8')
    expect(text).toContain('BEGIN ENCRYPTED PRIVATE KEY')
    const opened = createPrivateKey({ key: text, passphrase: 'pass 鍵' })
    expect(opened.equals(privateKeyOf(seed))).toBe(true)
  })

  it('never replaces a key, and leaves the old one as it was', async () => {
    const path = await tempKey()
    expect(await codeOfPromise(createKeyFile(path, other, undefined))).toBe('HSTORE_KEY_EXISTS')
    expect((await readKeyFile(path, undefined)).seed).toEqual(seed)
    expect(await readdir(join(path, '..'))).toHaveLength(2)
  })

  it('does not write through a link that stands there', async () => {
    const folder = await tempFolder()
    const path = join(folder, 'a.pem')
    await symlink(join(folder, 'elsewhere'), path)
    expect(await codeOfPromise(createKeyFile(path, seed, undefined))).toBe('HSTORE_KEY_EXISTS')
    expect(await readdir(folder)).toEqual(['a.pem'])
  })

  it('makes one key when many try at once', async () => {
    const path = join(await tempFolder(), 'a.pem')
    const seeds = Array.from({ length: 20 }, (_, i) => new Uint8Array(32).fill(i))
    const codes = await Promise.all(
      seeds.map((own) => codeOfPromise(createKeyFile(path, own, undefined))),
    )
    expect(codes.filter((code) => code === 'HSTORE_KEY_EXISTS')).toHaveLength(19)
    const winner = codes.indexOf('accepted')
    expect((await readKeyFile(path, undefined)).seed).toEqual(seeds[winner])
  })

  it('replaces a public half that an older key left behind', async () => {
    const path = await tempKey()
    await unlink(path)
    await createKeyFile(path, other, undefined, 'newer')
    expect((await inspectKeyFile(path)).publicKey).toEqual(publicKeyOf(other))
    expect((await inspectKeyFile(path)).comment).toBe('newer')
  })

  it('refuses an empty passphrase and a seed of another length', async () => {
    const path = join(await tempFolder(), 'a.pem')
    expect(await codeOfPromise(createKeyFile(path, seed, ''))).toBe('HSTORE_PASSPHRASE_NEEDED')
    expect(await codeOfPromise(createKeyFile(path, new Uint8Array(31), undefined))).toBe(invalid)
  })

  it('keeps a comment on its line', async () => {
    const path = join(await tempFolder(), 'a.pem')
    await createKeyFile(path, seed, undefined, 'a\nssh-ed25519 AAAA')
    expect((await inspectKeyFile(path)).comment).toBe('a\\u000assh-ed25519 AAAA')
  })
})

describe('readKeyFile', () => {
  it('gives seed, key object and public half', async () => {
    const key = await readKeyFile(await tempKey(), undefined)
    expect(key.seed).toEqual(seed)
    expect(key.publicKey).toEqual(publicKey)
    expect(sign(seed, key.privateKey)).toEqual(sign(seed, seed))
  })

  it('does not need the passphrase that a plain file has not', async () => {
    expect((await readKeyFile(await tempKey(), 'unneeded')).seed).toEqual(seed)
  })

  it('asks for the passphrase and takes only the right one', async () => {
    const path = await tempKey('right')
    expect((await readKeyFile(path, 'right')).seed).toEqual(seed)
    expect(await codeOfPromise(readKeyFile(path, undefined))).toBe('HSTORE_PASSPHRASE_NEEDED')
    expect(await codeOfPromise(readKeyFile(path, 'wrong'))).toBe('HSTORE_PASSPHRASE_WRONG')
  })

  it.each([0o640, 0o604, 0o620, 0o602, 0o610, 0o601, 0o644, 0o666, 0o777, 0o440])(
    'refuses mode %o, and says how to mend it',
    async (mode) => {
      const path = await tempKey()
      await chmod(path, mode)
      expect(await codeOfPromise(readKeyFile(path, undefined))).toBe('HSTORE_KEY_EXPOSED')
      await expect(readKeyFile(path, undefined)).rejects.toThrow(`chmod 600 ${path}`)
    },
  )

  it.each([0o600, 0o400, 0o700])('takes mode %o', async (mode) => {
    const path = await tempKey()
    await chmod(path, mode)
    expect((await readKeyFile(path, undefined)).seed).toEqual(seed)
  })

  it('refuses what is no ordinary file', async () => {
    const folder = await tempFolder()
    const target = join(folder, 'target.pem')
    await createKeyFile(target, seed, undefined)
    await symlink(target, join(folder, 'link.pem'))
    await mkdir(join(folder, 'folder.pem'), { mode: 0o700 })
    for (const name of ['link.pem', 'folder.pem']) {
      expect(await codeOfPromise(readKeyFile(join(folder, name), undefined))).toBe(invalid)
    }
    expect(await codeOfPromise(readKeyFile('/dev/null', undefined))).toBe(invalid)
  })

  it('tells a missing file', async () => {
    const folder = await tempFolder()
    const missing = [join(folder, 'a.pem'), join(folder, 'b', 'a.pem')]
    for (const path of missing) {
      expect(await codeOfPromise(readKeyFile(path, undefined))).toBe('HSTORE_KEY_NOT_FOUND')
    }
  })

  it.each([
    ['nothing', ''],
    ['text', 'no key'],
    ['half a key', formatPkcs8(seed).slice(0, 60)],
    ['two keys', formatPkcs8(seed) + formatPkcs8(other)],
    ['an OpenSSH key', formatOpenSSHKey(seed, '')],
    ['a public key', formatOpenSSHPublicKey(publicKey, '')],
    ['more than 64 KiB', `${formatPkcs8(seed)}${'\n'.repeat(65_536)}`],
    ['zeros, as after a crash', '\0'.repeat(119)],
  ])('refuses a file with %s', async (_, text) => {
    const path = await tempKey()
    await writeFile(path, text)
    expect(await codeOfPromise(readKeyFile(path, undefined))).toBe(invalid)
    await expect(readKeyFile(path, undefined)).rejects.toThrow(path)
  })

  it.each([
    ['another key', formatOpenSSHPublicKey(publicKeyOf(other), 'agent:a')],
    ['nothing', ''],
    ['zeros', '\0'.repeat(80)],
    ['text', 'no key\n'],
    ['another type', 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ== a\n'],
  ])('refuses a public half with %s', async (_, text) => {
    const path = await tempKey()
    await writeFile(`${path}.pub`, text)
    expect(await codeOfPromise(readKeyFile(path, undefined))).toBe(invalid)
    expect(await codeOfPromise(inspectKeyFile(path))).toBe(invalid)
  })

  it('tells the wrong public half also under a passphrase', async () => {
    const path = await tempKey('right')
    await writeFile(`${path}.pub`, formatOpenSSHPublicKey(publicKeyOf(other), ''))
    expect(await codeOfPromise(readKeyFile(path, 'right'))).toBe(invalid)
  })

  it('writes a missing public half again', async () => {
    const path = await tempKey()
    const before = await readFile(`${path}.pub`, 'utf8')
    await rm(`${path}.pub`)
    await readKeyFile(path, undefined)
    expect(await readFile(`${path}.pub`, 'utf8')).toBe(before)
    expect(await readdir(join(path, '..'))).toHaveLength(2)
  })

  it('takes a second name of the same file', async () => {
    const path = await tempKey()
    const second = join(path, '..', 'second.pem')
    await link(path, second)
    expect((await readKeyFile(second, undefined)).seed).toEqual(seed)
  })
})

describe.skipIf(process.getuid?.() !== 0)('as root', () => {
  it('refuses the file of another user', async () => {
    const path = await tempKey()
    outputOf('chown', '12345', path)
    expect(await codeOfPromise(readKeyFile(path, undefined))).toBe('HSTORE_KEY_EXPOSED')
  })
})

describe.skipIf(!hasProgram('mkfifo', '--version'))('a pipe', () => {
  it('is refused without waiting for its other end', async () => {
    const path = join(await tempFolder(), 'a.pem')
    outputOf('mkfifo', '-m', '600', path)
    expect(await codeOfPromise(readKeyFile(path, undefined))).toBe(invalid)
  })
})

describe('inspectKeyFile', () => {
  it('shows the public half, the comment and whether there is a passphrase', async () => {
    const comment = 'agent:a'
    expect(await inspectKeyFile(await tempKey())).toEqual({ publicKey, comment, encrypted: false })
    expect(await inspectKeyFile(await tempKey('p'))).toEqual({
      publicKey,
      comment,
      encrypted: true,
    })
  })

  it('can do without the public half only where there is no passphrase', async () => {
    const [plain, locked] = [await tempKey(), await tempKey('p')]
    for (const path of [plain, locked]) await rm(`${path}.pub`)
    expect((await inspectKeyFile(plain)).publicKey).toEqual(publicKey)
    expect(await codeOfPromise(inspectKeyFile(locked))).toBe(invalid)
    await readKeyFile(locked, 'p')
    expect((await inspectKeyFile(locked)).publicKey).toEqual(publicKey)
  })
})
