import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { signerOfSeed } from '../../keys/signer.ts'
import { formatOpenSSHKey } from '../../keys/openssh.ts'
import { formatOpenSSHPublicKey } from '../../keys/openssh-public.ts'
import { formatPkcs8 } from '../../keys/pkcs8.ts'
import { makeTempFolder } from './temp-folder.ts'

/** Whether this machine has OpenSSH's agent and tools. */
export const hasOpenSSH: boolean = ['ssh-agent', 'ssh-add', 'ssh-keygen'].every(
  (program) => spawnSync(program, ['-?']).error === undefined,
)

const scripted = fileURLToPath(new URL('./scripted-agent.mjs', import.meta.url))

/** A key that agents keep in tests. */
export const seed: Uint8Array = new Uint8Array(32).fill(9)

/** The public line of that key. */
export const publicLine: string = formatOpenSSHPublicKey(signerOfSeed(seed).publicKey, 'kept')

/** Starts an agent that does what `script` says, until the test ends; returns its socket. */
export async function startScripted(script: string): Promise<string> {
  const socket = join(await makeTempFolder(), 's')
  const child = spawn(process.execPath, [scripted, script, socket, formatPkcs8(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  endWithTest(child)
  await once(child.stdout, 'data')
  return socket
}

/** A running ssh-agent of OpenSSH. */
export interface RealAgent {
  readonly socket: string
  /** Runs ssh-add against it, with a key file of `seed` and its .pub at `keyFile`. */
  readonly add: (...args: readonly string[]) => {
    readonly status: number | null
    readonly stderr: string
  }
  readonly keyFile: string
}

/** Starts OpenSSH's ssh-agent until the test ends, without a key. */
export async function startRealAgent(
  env: Readonly<Record<string, string>> = {},
): Promise<RealAgent> {
  const folder = await makeTempFolder()
  const keyFile = join(folder, 'id')
  await writeFile(keyFile, formatOpenSSHKey(seed, 'kept'), { mode: 0o600 })
  await writeFile(`${keyFile}.pub`, publicLine)
  const socket = join(folder, 's')
  const whole = { PATH: process.env['PATH'], HOME: folder, SSH_AUTH_SOCK: socket, ...env }
  endWithTest(spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore', env: whole }))
  const add: RealAgent['add'] = (...args) => {
    const { status, stderr } = spawnSync('ssh-add', args, { env: whole, encoding: 'utf8' })
    return { status, stderr }
  }
  // 2: no agent answers yet
  for (let i = 0; i < 200 && add('-l').status === 2; i++) await sleep(20)
  return { socket, add, keyFile }
}

function endWithTest(child: ChildProcess): void {
  onTestFinished(async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit')
  })
}
