import { hostname } from 'node:os'
import type { Asker } from '../resident/asker.ts'
import { HstoreError } from '../kernel/errors.ts'
import type { Io } from './io.ts'
import { readAll } from './read-all.ts'

/** Thrown where a verb needs what only the process has that was started for it. */
class NotHere extends Error {
  override readonly name = 'NotHere'
}

/** What is answered with the help of somebody at a terminal, or of an ssh-agent. */
const ofItsUser: ReadonlySet<string> = new Set([
  'HSTORE_PASSPHRASE_NEEDED',
  'HSTORE_SSH_AGENT_MISSING',
])

/**
 * Returns the io of a verb that is done for another process.
 *
 * @param keysFolder - The one folder of keys that is used for others.
 */
export function residentIo(asker: Asker, keysFolder: string, openDatabase: Io['openDatabase']): Io {
  const { cwd, env } = asker.request
  const chunks = (): AsyncGenerator<Uint8Array> => asker.stdin()
  return {
    out: (data) => asker.out(typeof data === 'string' ? Buffer.from(data) : data),
    err: (text) => void asker.send('E', Buffer.from(text)),
    stdin: () => readAll(chunks()),
    stdinChunks: chunks,
    ask: notHere,
    askSecret: async () => undefined,
    leaves: (error) =>
      error instanceof NotHere || (error instanceof HstoreError && ofItsUser.has(error.code)),
    assertDescriptor: () => {
      throw new NotHere()
    },
    assertKeys: (folder) => {
      if (folder !== keysFolder) throw new NotHere()
    },
    openDatabase,
    cwd,
    env,
    machine: hostname(),
  }
}

async function notHere(): Promise<never> {
  throw new NotHere()
}
