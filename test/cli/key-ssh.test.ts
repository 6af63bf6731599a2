import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasOpenSSH } from '../support/ssh-agent.ts'
import { agents, json, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'

const store = await makeTestStore(await makeSharedFolder())
const at = (name: string): string => path.join(store.root, name)

async function sign(agent: string, file: string, namespace = 'file'): Promise<void> {
  const { out } = await ok(store.run('key', 'export', agent, '--secret'))
  await writeFile(at('id'), out, { mode: 0o600 })
  const args = ['-q', '-Y', 'sign', '-f', at('id'), '-n', namespace, at(file)]
  expect(spawnSync('ssh-keygen', args).status).toBe(0)
}

describe.skipIf(!hasOpenSSH)('key signers and key verify', () => {
  it('agree with ssh-keygen', async () => {
    await writeFile(at('note'), 'high tide')
    await sign(agents.a, 'note')
    const { out } = await ok(store.run('key', 'signers'))
    expect(out.trimEnd().split('\n')).toHaveLength(3)
    await writeFile(at('signers'), out)
    const theirs = (principal: string): number | null =>
      spawnSync(
        'ssh-keygen',
        ['-Y', 'verify', '-f', at('signers'), '-I', principal, '-n', 'file', '-s', at('note.sig')],
        { input: 'high tide' },
      ).status
    for (const more of [[], ['--allowed-signers', 'signers']]) {
      const verify = ['key', 'verify', 'note', 'note.sig']
      const good = await store.run(...verify, agents.a, ...more)
      expect(good).toMatchObject({ exit: 0, err: '' })
      expect(good.out).toMatch(/^good file signature by csag:agent\/agent-a with did:key:z6Mk/)
      const bad = await store.run(...verify, agents.b, ...more)
      expect(bad).toMatchObject({ exit: 4, out: '' })
      expect(bad.err).toBe(`hstore: the key is known, but as "${agents.a}", not "${agents.b}"\n`)
      expect((await store.run(...verify, agents.a, ...more, '--namespace', 'git')).exit).toBe(5)
    }
    expect(theirs(agents.a)).toBe(0)
    expect(theirs(agents.b)).not.toBe(0)
    const report = json(
      await ok(store.run('key', 'verify', 'note', 'note.sig', agents.a, '--json')),
    )
    expect(report).toMatchObject({ principal: agents.a, namespace: 'file', warnings: [] })
  })

  it('refuse a changed file, a damaged signature and a stranger', async () => {
    await writeFile(at('other'), 'low tide')
    await sign(agents.b, 'other')
    const verify = (file: string, signature: string) =>
      store.run('key', 'verify', file, signature, agents.b)
    expect((await verify('other', 'other.sig')).exit).toBe(0)
    await writeFile(at('changed'), 'high tide')
    expect((await verify('changed', 'other.sig')).exit).toBe(5)
    const text = await readFile(at('other.sig'), 'utf8')
    await writeFile(at('cut.sig'), text.slice(0, 100))
    expect((await verify('other', 'cut.sig')).exit).toBe(5)
    await ok(store.run('key', 'new', 'stranger', '--no-passphrase'))
    await writeFile(at('strange'), 'x')
    await sign('stranger', 'strange')
    const ran = await store.run('key', 'verify', 'strange', 'strange.sig', 'stranger')
    expect(ran.exit).toBe(4)
    expect(ran.err).toMatch(/^hstore: the roster does not know did:key:z6Mk\w+\n$/)
  })

  it('leave out keys that the roster has closed', async () => {
    const { out: did } = await ok(store.run('key', 'export', agents.b, '--format', 'did'))
    await ok(store.run('roster', 'revoke', agents.b, did.trim(), '--at', 'none', '--yes'))
    const { out } = await ok(store.run('key', 'signers'))
    expect(out).not.toContain(agents.b)
    expect((await store.run('key', 'verify', 'other', 'other.sig', agents.b)).exit).toBe(4)
  })

  it('say that dates were looked at', async () => {
    const { out } = await ok(store.run('key', 'signers'))
    await writeFile(at('dated'), out.replaceAll(' ssh-', ' valid-after="20200101" ssh-'))
    const verify = ['key', 'verify', 'note', 'note.sig', agents.a, '--allowed-signers', 'dated']
    const ran = await store.run(...verify)
    expect(ran.exit).toBe(0)
    expect(ran.err).toMatch(/^hstore: warning: line \d of the signers has dates: .*\n$/)
  })
})
