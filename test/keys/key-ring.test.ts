import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatDidKey } from '../../keys/did-key.ts'
import { publicKeyOf } from '../../keys/ed25519.ts'
import { createKeyFile } from '../../keys/key-file.ts'
import { agentOf, findKey, keyPath, listKeys } from '../../keys/key-ring.ts'
import { codeOf, codeOfPromise, tempFolder } from './support.ts'

const seed = new Uint8Array(32).fill(7)
const did = formatDidKey(publicKeyOf(seed))
const agents = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 })

describe('keyPath', () => {
  it.each([
    ['claude', 'claude.pem'],
    ['agent:a/b', 'agent%3Aa%2Fb.pem'],
    ['a b', 'a%20b.pem'],
    ['.', '%2E.pem'],
    ['..', '%2E..pem'],
    ['../../etc/passwd', '%2E.%2F..%2Fetc%2Fpasswd.pem'],
    ['.new-1', '%2Enew-1.pem'],
    ['a.b-c_d~e', 'a.b-c_d~e.pem'],
    ["it's (*)!", 'it%27s%20%28%2A%29%21.pem'],
    ['100%', '100%25.pem'],
    ['鍵', '%E9%8D%B5.pem'],
    ['a\\b', 'a%5Cb.pem'],
  ])('of %j is %s', (agent, name) => {
    expect(keyPath('/keys', agent)).toBe(`/keys/${name}`)
    expect(agentOf(name)).toBe(agent)
  })

  it('is one to one and stays in its folder', () => {
    fc.assert(
      fc.property(agents, (agent) => {
        if (codeOf(() => keyPath('/keys', agent)) !== 'accepted') {
          expect(agent).toMatch(/[\p{Control}\p{Surrogate}]/u)
          return
        }
        const path = keyPath('/keys', agent)
        expect(path).toMatch(/^\/keys\/[A-Za-z0-9%_~-][A-Za-z0-9%_~.-]*\.pem$/)
        expect(agentOf(basename(path))).toBe(agent)
      }),
    )
  })

  it.each(['', 'a\nb', '\0', 'a\u007f', '\u0085', '\ud800', 'a'.repeat(248), '鍵'.repeat(28)])(
    'refuses %j',
    (agent) => {
      expect(codeOf(() => keyPath('/keys', agent))).toBe('HSTORE_KEY_INVALID')
    },
  )

  it('takes names up to what a file system takes, with .pub behind', async () => {
    const dir = await tempFolder()
    const agent = 'a'.repeat(247)
    await createKeyFile(keyPath(dir, agent), seed, undefined)
    expect((await findKey(dir, agent))?.did).toBe(did)
  })
})

describe('agentOf', () => {
  it.each([
    '.pem',
    'a',
    'a.pub',
    'a.pem.pub',
    'a%3aa.pem',
    '%61.pem',
    'a b.pem',
    '%.pem',
    '%FF.pem',
    '%00.pem',
    '..pem',
    '.new-0011.pem',
    'a:b.pem',
    '鍵.pem',
  ])('gives none for %j', (name) => {
    expect(agentOf(name)).toBeUndefined()
  })

  it('never gives two names one agent', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('%', '2', 'E', 'e', '.', 'a', '5') }),
        (name) => {
          const agent = agentOf(`${name}.pem`)
          if (agent !== undefined) expect(basename(keyPath('/keys', agent))).toBe(`${name}.pem`)
        },
      ),
      { numRuns: 1000 },
    )
  })
})

describe('listKeys', () => {
  it('is empty for an empty or missing folder', async () => {
    const dir = await tempFolder()
    expect(await listKeys(dir)).toEqual([])
    expect(await listKeys(join(dir, 'none'))).toEqual([])
  })

  it('tells a folder that is none', async () => {
    const path = join(await tempFolder(), 'file')
    await writeFile(path, '')
    expect(await codeOfPromise(listKeys(path))).toBe('HSTORE_KEY_NOT_FOUND')
  })

  it('is sorted by the bytes of the agents, without passphrase', async () => {
    const dir = await tempFolder()
    for (const agent of ['b', '\u{1f511}', '\uff61', 'B', 'a:1']) {
      await createKeyFile(keyPath(dir, agent), seed, undefined)
    }
    await createKeyFile(keyPath(dir, 'c'), seed, 'passphrase', 'comment')
    const keys = await listKeys(dir)
    expect(keys.map(({ agent }) => agent)).toEqual(['B', 'a:1', 'b', 'c', '\uff61', '\u{1f511}'])
    expect(keys[0]).toEqual({
      agent: 'B',
      did,
      level: 'file',
      path: join(dir, 'B.pem'),
      comment: 'B',
      encrypted: false,
    })
    expect(keys[3]).toMatchObject({ did, comment: 'comment', encrypted: true })
  })

  it('passes over other files and goes on past broken keys', async () => {
    const dir = await tempFolder()
    for (const agent of ['good', 'open', 'half', 'wrong']) {
      await createKeyFile(keyPath(dir, agent), seed, undefined)
    }
    await chmod(join(dir, 'open.pem'), 0o644)
    await writeFile(join(dir, 'half.pem'), '-----BEGIN')
    await createKeyFile(keyPath(dir, 'other'), new Uint8Array(32), undefined)
    await writeFile(join(dir, 'wrong.pem.pub'), 'ssh-ed25519 AAAA\n')
    await mkdir(join(dir, 'folder.pem'))
    await symlink('nowhere', join(dir, 'link.pem'))
    await symlink('good.pem', join(dir, 'second.pem'))
    for (const name of ['notes.txt', '.new-0011223344556677', '%zz.pem', 'id_ed25519']) {
      await writeFile(join(dir, name), '')
    }
    const keys = await listKeys(dir)
    const broken = ['folder', 'half', 'link', 'open', 'second', 'wrong']
    expect(keys.map(({ agent }) => agent)).toEqual([...broken, 'good', 'other'].sort())
    for (const { agent, problem, did: shown } of keys) {
      expect([agent, problem !== undefined]).toEqual([agent, broken.includes(agent)])
      expect([agent, shown === undefined]).toEqual([agent, broken.includes(agent)])
      if (problem !== undefined) expect(problem).toMatch(/^\P{Control}+$/u)
    }
    expect(keys.find(({ agent }) => agent === 'open')?.problem).toContain('chmod 600')
  })

  it('keeps comments that are not UTF-8', async () => {
    const dir = await tempFolder()
    const path = keyPath(dir, 'a')
    await createKeyFile(path, seed, undefined, 'X')
    const line = (await readFile(`${path}.pub`, 'latin1')).replace(' X\n', ' Schl\xfcssel\n')
    await writeFile(`${path}.pub`, line, 'latin1')
    expect((await listKeys(dir))[0]).toMatchObject({ did, comment: 'Schlüssel' })
  })
})

describe('findKey', () => {
  it('finds one by its exact name', async () => {
    const dir = await tempFolder()
    await createKeyFile(keyPath(dir, 'a:1'), seed, undefined)
    expect(await findKey(dir, 'a:1')).toMatchObject({ agent: 'a:1', did })
    expect(await findKey(dir, 'A:1')).toBeUndefined()
    expect(await findKey(join(dir, 'none'), 'a:1')).toBeUndefined()
    expect(await codeOfPromise(findKey(dir, ''))).toBe('HSTORE_KEY_INVALID')
  })
})
