import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { userInfo } from 'node:os'
import path from 'node:path'
import { launcher } from './cli.ts'

const program = '/usr/sbin/sshd'

/** Whether OpenSSH's server and client are on this machine. */
export const hasSshd: boolean = existsSync(program) && existsSync('/usr/bin/ssh')

/** A server on loopback that takes one key, and the words that call ssh with it. */
export interface LoopbackSshd extends AsyncDisposable {
  readonly port: number
  readonly ssh: string
}

/** Starts OpenSSH's server on loopback, for this user and a fresh key alone; it is ended by its pid. */
export async function startSshd(
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<LoopbackSshd> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const at = (name: string): string => path.join(folder, name)
  for (const name of ['host', 'key'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(name)])
  const port = await freePort()
  const words = Object.entries({ ...env, PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin` })
  const exports = words.map(([key, value]) => `export ${key}='${value}';`).join(' ')
  const run = at('run')
  const own = path.dirname(launcher)
  await writeFile(
    run,
    `#!/bin/sh\n${exports} export PATH="${own}:$PATH"; exec sh -c "$SSH_ORIGINAL_COMMAND"\n`,
    {
      mode: 0o700,
    },
  )
  const publicKey = execFileSync('ssh-keygen', ['-y', '-f', at('key')], { encoding: 'utf8' })
  await writeFile(at('authorized'), `command="${run}" ${publicKey}`, { mode: 0o600 })
  await writeFile(
    at('config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${at('host')}`,
      `AuthorizedKeysFile ${at('authorized')}`,
      'AuthenticationMethods publickey',
      'PasswordAuthentication no',
      'UsePAM no',
      'KbdInteractiveAuthentication no',
      'StrictModes no',
      `PidFile ${at('pid')}`,
      '',
    ].join('\n'),
  )
  await mkdir('/run/sshd', { recursive: true }).catch(() => undefined)
  const server = spawn(program, ['-D', '-e', '-f', at('config')], { stdio: 'ignore' })
  await reached(port)
  const options = ['UserKnownHostsFile=/dev/null', 'StrictHostKeyChecking=no', 'LogLevel=ERROR']
  const words2 = options.flatMap((option) => ['-o', option])
  return {
    port,
    ssh: ['ssh', '-F', '/dev/null', '-i', at('key'), '-l', userInfo().username, ...words2].join(
      ' ',
    ),
    async [Symbol.asyncDispose]() {
      server.kill()
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function reached(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('sshd does not answer')
}
