import { createPrivateKey, createPublicKey } from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Ran, RunOptions } from '../support/cli.ts'
import { runCli } from '../support/cli.ts'
import { makeSharedFolder } from '../support/store.ts'

const shared = await makeSharedFolder()
const agent = 'csag:agent/merger'
let count = 0

/** Runs a verb over one folder of keys of its own. */
function makeRun(): (args: string, options?: RunOptions) => Promise<Ran> {
  const keys = path.join(shared, `keys-${count++}`)
  return (args, options = {}) =>
    runCli(args.trim().split(' '), {
      cwd: shared,
      ...options,
      env: { HSTORE_KEYS: keys, ...options.env },
    })
}

async function makeKey(args = '--no-passphrase'): Promise<ReturnType<typeof makeRun>> {
  const run = makeRun()
  expect((await run(`key new ${agent} ${args}`, { env: { HSTORE_PASSPHRASE: 'one' } })).exit).toBe(
    0,
  )
  return run
}

describe('key export', () => {
  it('gives one key in every form', async () => {
    const run = await makeKey()
    const shown = JSON.parse((await run(`key show ${agent} --json`)).out) as { did: string }
    const pem = (await run(`key export ${agent} --format pem`)).out
    const jwk = (await run(`key export ${agent} --format jwk`)).out
    const secretPem = (await run(`key export ${agent} --format pem --secret`)).out
    const secretJwk = (await run(`key export ${agent} --format jwk --secret`)).out
    const key = createPublicKey(pem)
    expect(key.equals(createPublicKey({ format: 'jwk', key: JSON.parse(jwk) }))).toBe(true)
    expect(key.equals(createPublicKey(createPrivateKey(secretPem)))).toBe(true)
    const privateKey = createPrivateKey({ format: 'jwk', key: JSON.parse(secretJwk) })
    expect(key.equals(createPublicKey(privateKey))).toBe(true)
    expect(JSON.parse(jwk)).not.toHaveProperty('d')
    expect((await run(`key export ${agent} --format did`)).out).toBe(`${shown.did}\n`)
  })

  it.each(['openssh', 'pem', 'jwk'])('%s comes back through import', async (format) => {
    const run = await makeKey()
    const { out } = await run(`key export ${agent} --format ${format} --secret`)
    const did = (await run(`key export ${agent} --format did`)).out
    const again = makeRun()
    const read = await again(`key import ${agent} - --no-passphrase`, { stdin: out })
    expect(read).toMatchObject({ exit: 0, out: did, err: '' })
    const key = path.join(shared, `keys-${count - 1}`, 'csag%3Aagent%2Fmerger.pem')
    expect((await stat(key)).mode & 0o777).toBe(0o600)
    expect((await run(`key export ${agent} --format pem --secret`)).out).toBe(
      await readFile(key, 'utf8'),
    )
  })

  it('gives the secret only when asked, and names what was asked in --json', async () => {
    const run = await makeKey()
    for (const format of ['openssh', 'pem', 'jwk']) {
      const shown = JSON.parse((await run(`key export ${agent} --format ${format} --json`)).out)
      expect(Object.keys(shown)).toContain(format)
      expect(shown).not.toHaveProperty('secret')
      const all = JSON.parse(
        (await run(`key export ${agent} --format ${format} --secret --json`)).out,
      )
      expect(all.secret).toBe((await run(`key export ${agent} --format ${format} --secret`)).out)
    }
  })

  it.each(['--format xml', '--format did --secret', '--format'])('refuses %s', async (args) => {
    const run = await makeKey()
    expect(await run(`key export ${agent} ${args}`)).toMatchObject({ exit: 2, out: '' })
  })

  it('needs the passphrase for the secret alone', async () => {
    const run = await makeKey('')
    expect((await run(`key export ${agent} --format jwk`)).exit).toBe(0)
    expect((await run(`key export ${agent} --format jwk --secret`)).exit).toBe(4)
    const given = { env: { HSTORE_PASSPHRASE: 'one' } }
    expect((await run(`key export ${agent} --format jwk --secret`, given)).exit).toBe(0)
  })

  it("leaves the key file, which is PKCS#8 under its passphrase, for another machine's import", async () => {
    const run = await makeKey('')
    const { path: file, did } = JSON.parse((await run(`key show ${agent} --json`)).out)
    const options = { env: { HSTORE_PASSPHRASE: 'one' }, stdin: await readFile(file as string) }
    const other = makeRun()
    expect((await other(`key import ${agent} -`, options)).out).toBe(`${did}\n`)
    expect((await other(`key export ${agent} --secret`)).exit).toBe(4)
  })
})

describe('key import', () => {
  it('refuses a public key of each form and names it', async () => {
    const run = await makeKey()
    for (const format of ['openssh', 'pem', 'jwk']) {
      const { out } = await run(`key export ${agent} --format ${format}`)
      const read = await run('key import csag:agent/other - --no-passphrase', { stdin: out })
      expect(read).toMatchObject({ exit: 4, out: '' })
      expect(read.err).toContain('is a public key')
    }
  })

  it('leaves nothing behind for a JWK that is wrong', async () => {
    const run = await makeKey()
    const { out } = await run(`key export ${agent} --format jwk --secret`)
    const stdin = out.replace(/(?<="x":")./, (first) => (first === 'A' ? 'B' : 'A'))
    expect(await run('key import csag:agent/other - --no-passphrase', { stdin })).toMatchObject({
      exit: 4,
      out: '',
    })
    expect((await run('key list')).out.trim().split('\n')).toHaveLength(1)
  })
})

describe('a passphrase file that nothing reads', () => {
  const warning = `hstore: warning: the key of ${agent} is not encrypted: --passphrase-file was not used\n`
  const file = path.join(shared, 'passphrase')

  it('is told, and changes nothing else', async () => {
    await writeFile(file, 'one\n')
    const run = makeRun()
    const given = `--passphrase-file ${file}`
    const made = await run(`init --store s1 --as ${agent} --no-passphrase ${given}`)
    expect(made).toMatchObject({ exit: 0 })
    expect(made.err).toContain(warning)
    for (const verb of ['heads', 'roster show']) {
      expect(await run(`${verb} --store s1 ${given}`)).toMatchObject({ exit: 0, err: warning })
    }
    const secret = await run(`key export ${agent} --secret ${given}`)
    expect(secret).toMatchObject({ exit: 0, err: warning })
    const stdin = secret.out
    const other = makeRun()
    expect(await other(`key import ${agent} - --no-passphrase ${given}`, { stdin })).toMatchObject({
      exit: 0,
      err: warning,
    })
  })

  it('is not told where it was read', async () => {
    await writeFile(file, 'one\n')
    const run = makeRun()
    const given = `--passphrase-file ${file}`
    expect((await run(`init --store s2 --as ${agent} ${given}`)).err).not.toContain('warning')
    expect((await run(`key export ${agent} --secret ${given}`)).err).toBe('')
    expect((await run(`heads --store s2 ${given}`)).err).toBe('')
    const { path: key } = JSON.parse((await run(`key show ${agent} --json`)).out)
    const imported = await makeRun()(`key import ${agent} ${key} --no-passphrase ${given}`)
    expect(imported).toMatchObject({ exit: 0, err: '' })
  })
})

describe('a name that no key has', () => {
  it('is answered by the one agent that ends in it', async () => {
    const run = await makeKey()
    const { exit, err } = await run('key show merger')
    expect(exit).toBe(4)
    expect(err).toContain(`did you mean ${agent}?`)
    await run(`init --store s3 --as ${agent}`)
    const put = await run('put - --store s3 --as merger', { stdin: '{}' })
    expect(put.exit).toBe(4)
    expect(put.err).toContain(`did you mean ${agent}?`)
  })

  it('is answered by none of two, and by none that only looks like it', async () => {
    const run = await makeKey()
    expect((await run('key show erger')).err).not.toContain('did you mean')
    await run('key new csag:other/merger --no-passphrase')
    expect((await run('key show merger')).err).not.toContain('did you mean')
  })
})
