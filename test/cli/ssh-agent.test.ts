import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatOpenSSHPublicKey } from '../../keys/openssh-public.ts'
import { signerOfSeed } from '../../keys/signer.ts'
import type { Ran } from '../support/cli.ts'
import { runCli, runProcess } from '../support/cli.ts'
import { historyBundle, historyFiles } from '../support/history.ts'
import {
  hasOpenSSH,
  publicLine,
  seed,
  startRealAgent,
  startScripted,
} from '../support/ssh-agent.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const agent = 'csag:agent/agent-a'
const { did } = signerOfSeed(seed)
const first = historyFiles[0]!.file

if (!hasOpenSSH) console.log('ssh-agent: OpenSSH is not here, its 6 tests are not run')

interface World {
  readonly folder: string
  readonly run: (
    args: string,
    options?: { env?: Record<string, string>; stdin?: string },
  ) => Promise<Ran>
}

async function makeWorld(socket: string): Promise<World> {
  const folder = await makeTempFolder()
  await writeFile(path.join(folder, 'id.pub'), publicLine)
  const env = { HSTORE_KEYS: path.join(folder, 'keys'), SSH_AUTH_SOCK: socket }
  return {
    folder,
    run: (args, options = {}) =>
      runCli(args.split(' '), { cwd: folder, ...options, env: { ...env, ...options.env } }),
  }
}

describe('key import --ssh-agent', () => {
  it('writes down the public half only, and ssh-agent signs from then on', async () => {
    const { folder, run } = await makeWorld(await startScripted('is honest'))
    expect(await run(`key import ${agent} id.pub --ssh-agent`)).toMatchObject({
      exit: 0,
      out: `${did}\n`,
      err: '',
    })
    expect(await readdir(path.join(folder, 'keys'))).toEqual(['csag%3Aagent%2Fagent-a.agent'])
    const shown = JSON.parse((await run(`key show ${agent} --json`)).out) as object
    expect(shown).toMatchObject({ agent, did, level: 'agent', comment: 'kept' })
    expect(shown).not.toHaveProperty('encrypted')
    expect((await run(`key list`)).out).toContain(`${did}  agent  `)
    expect((await run(`key export ${agent}`)).out).toBe(publicLine)
    expect((await run(`key export ${agent} --secret`)).exit).toBe(4)
    expect((await run(`init --as ${agent}`)).exit).toBe(0)
    const roster = JSON.parse((await run('roster show --json')).out) as {
      agents: { keys: { level: string; did: string }[] }[]
    }
    expect(roster.agents[0]?.keys[0]).toMatchObject({ did, level: 'agent' })
    const put = await run(`put ${first} --bundle ${historyBundle}`)
    expect(put).toMatchObject({ exit: 0 })
    expect((await run(`verify ${put.out.trim()}`)).exit).toBe(0)
    const resumed = JSON.parse((await run(`resume ${put.out.trim()} --json`)).out) as {
      certificate: string
    }
    const certificate = JSON.parse((await run(`get ${resumed.certificate}`)).out) as object
    expect(certificate).toMatchObject({ level: 'agent' })
  })

  it('never replaces a key, and no key replaces it', async () => {
    const { run } = await makeWorld(await startScripted('is honest'))
    expect((await run(`key import ${agent} id.pub --ssh-agent`)).exit).toBe(0)
    for (const again of ['import {} id.pub --ssh-agent', 'new {} --no-passphrase']) {
      expect((await run(`key ${again.replace('{}', agent)}`)).exit).toBe(6)
    }
    const other = 'csag:agent/agent-b'
    expect((await run(`key new ${other} --no-passphrase`)).exit).toBe(0)
    expect((await run(`key import ${other} id.pub --ssh-agent`)).exit).toBe(6)
  })

  it('does not guess where there are a key file and one that ssh-agent keeps', async () => {
    const { folder, run } = await makeWorld(await startScripted('is honest'))
    expect((await run(`key new ${agent} --no-passphrase`)).exit).toBe(0)
    const name = path.join(folder, 'keys', 'csag%3Aagent%2Fagent-a.agent')
    await writeFile(name, publicLine)
    const shown = await run(`key show ${agent}`)
    expect(shown).toMatchObject({ exit: 4 })
    expect(shown.out).toContain('take one of the two away')
    expect((await run(`init --as ${agent}`)).exit).toBe(4)
  })

  it.each([
    ['of FIDO', 'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t kept\n'],
    ['of RSA', 'ssh-rsa AAAAB3NzaC1yc2E= kept\n'],
    ['of a certificate', 'ssh-ed25519-cert-v01@openssh.com AAAA kept\n'],
    ['that is private', '-----BEGIN OPENSSH PRIVATE KEY-----\n'],
    ['of two lines', publicLine.repeat(2)],
    ['that is weak', formatOpenSSHPublicKey(new Uint8Array(32), 'weak')],
  ])('refuses a key %s in one line', async (_, stdin) => {
    const { folder, run } = await makeWorld(await startScripted('is honest'))
    const ran = await run(`key import ${agent} - --ssh-agent`, { stdin })
    expect(ran).toMatchObject({ exit: 4, out: '' })
    expect(ran.err.match(/\n/g)).toHaveLength(1)
    expect(await readdir(folder)).not.toContain('keys')
  })

  it.each(['refuses to sign', 'signs something else', 'lists nothing', 'hangs up at once'])(
    'makes nothing where the agent %s',
    async (script) => {
      const { folder, run } = await makeWorld(await startScripted(script))
      const ran = await run(`key import ${agent} id.pub --ssh-agent`)
      expect(ran).toMatchObject({ exit: 4, out: '' })
      expect(ran.err.match(/\n/g)).toHaveLength(1)
      expect(await readdir(folder)).not.toContain('keys')
    },
  )

  it('needs an agent, and no passphrase', async () => {
    const { run } = await makeWorld('')
    expect((await run(`key import ${agent} id.pub --ssh-agent`)).exit).toBe(4)
    expect((await run(`key import ${agent} id.pub --ssh-agent --no-passphrase`)).exit).toBe(2)
  })
})

describe.skipIf(!hasOpenSSH)("OpenSSH's ssh-agent", () => {
  it('signs what a process of hstore puts', async () => {
    const real = await startRealAgent()
    expect(real.add(real.keyFile).status).toBe(0)
    const { folder, run } = await makeWorld(real.socket)
    expect((await run(`key import ${agent} id.pub --ssh-agent`)).out).toBe(`${did}\n`)
    const env = { HSTORE_KEYS: path.join(folder, 'keys'), SSH_AUTH_SOCK: real.socket }
    expect((await runProcess(['init', '--as', agent], { cwd: folder, env })).exit).toBe(0)
    const argv = ['put', first, '--bundle', historyBundle]
    const put = await runProcess(argv, { cwd: folder, env })
    expect(put).toMatchObject({ exit: 0 })
    expect((await run('verify --all')).exit).toBe(0)
  })

  it.each(['locked', 'without the key'])('says no in one line when it is %s', async (state) => {
    const { folder, run } = await makeWorld('')
    const askpass = path.join(folder, 'askpass')
    await writeFile(askpass, '#!/bin/sh\necho secret\n', { mode: 0o700 })
    const real = await startRealAgent({ SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: 'force' })
    expect(real.add(real.keyFile).status).toBe(0)
    const env = { SSH_AUTH_SOCK: real.socket }
    await run(`key import ${agent} id.pub --ssh-agent`, { env })
    expect((await run(`init --as ${agent}`, { env })).exit).toBe(0)
    expect(real.add(state === 'locked' ? '-x' : '-D').status).toBe(0)
    const ran = await run(`put ${first} --bundle ${historyBundle}`, { env })
    expect(ran).toMatchObject({ exit: 4, out: '' })
    expect(ran.err).toMatch(/^hstore: .*the ssh-agent at .* shows no key: unlock it .*\n$/)
    expect((await run('heads', { env })).out).toBe((await run('heads')).out)
  })

  it('says no in one line when nobody confirms', async () => {
    const real = await startRealAgent({ SSH_ASKPASS: '/bin/false', DISPLAY: ':0' })
    expect(real.add('-c', real.keyFile).status).toBe(0)
    const { run } = await makeWorld(real.socket)
    const ran = await run(`key import ${agent} id.pub --ssh-agent`)
    expect(ran).toMatchObject({ exit: 4, out: '' })
    expect(ran.err).toMatch(/^hstore: ssh-agent does not sign .* nobody confirmed it.*\n$/)
  })

  it('signs when somebody confirms', async () => {
    const real = await startRealAgent({ SSH_ASKPASS: '/bin/true', DISPLAY: ':0' })
    expect(real.add('-c', real.keyFile).status).toBe(0)
    const { run } = await makeWorld(real.socket)
    expect((await run(`key import ${agent} id.pub --ssh-agent`)).exit).toBe(0)
  })

  it('says no in one line when the key is bound to destinations', async () => {
    const real = await startRealAgent()
    const hosts = `${real.keyFile}.hosts`
    await writeFile(hosts, `host.example ${publicLine}`)
    expect(real.add('-H', hosts, '-h', 'host.example', real.keyFile).stderr).toContain('added')
    const { run } = await makeWorld(real.socket)
    const ran = await run(`key import ${agent} id.pub --ssh-agent`)
    expect(ran).toMatchObject({ exit: 4, out: '' })
    expect(ran.err).toMatch(/^hstore: .*bound to destinations.*\n$/)
  })
})
