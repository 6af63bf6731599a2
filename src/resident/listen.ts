import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:net'
import { connect, createServer } from 'node:net'
import path from 'node:path'
import { HandoffError } from '../errors.ts'
import { whyOf } from '../kernel/errno.ts'
import { forgetTemporary, noteTemporary } from '../kernel/temporaries.ts'
import { addressOf } from './address.ts'
import type { Asker } from './asker.ts'
import { Askers } from './asker.ts'
import { callerOf } from './caller.ts'
import type { Card } from './card.ts'
import { cardFolder, cardPath, findCard, isOwnSocket, isPrivate } from './card.ts'

/** How a store is served to the processes of its own user. */
export interface LocalServeOptions {
  /** The store's `.hstore` folder. */
  readonly folder: string
  readonly keysFolder: string
  /** Which build this is: no other is answered. */
  readonly build: string
  /** Does what one process asks; gives the exit code, or undefined when it has to do it alone. */
  readonly answer: (asker: Asker) => Promise<number | undefined>
}

/** A local socket that is listened on. */
export interface LocalServer {
  readonly socket: string
  close(): Promise<void>
}

const probeMs = 1000

/**
 * Listens on a local socket for processes of this user, and puts a card there that tells them.
 *
 * @throws {HandoffError} `HSTORE_SOCKET_UNUSABLE` when it can't be, or another process serves the store already.
 */
export async function serveLocally(options: LocalServeOptions): Promise<LocalServer> {
  if (process.platform === 'win32') throw unusable('this system has no sockets that files guard')
  const { folder, keysFolder, build, answer } = options
  try {
    const cards = preparedFolder(keysFolder)
    const card = cardPath(keysFolder, folder)
    await refuseSecond(card)
    const socket = randomBytes(8).toString('hex')
    const token = randomBytes(32).toString('base64url')
    const made: Card = { socket, caller: callerOf(build), token }
    const askers = new Askers(made, answer)
    const server = createServer((connection) => askers.add(connection))
    const file = path.join(cards, socket)
    noteTemporary(file)
    await listen(server, cards, socket)
    chmodSync(file, 0o600)
    noteTemporary(card)
    writeCard(card, made)
    return { socket: file, close: () => close(server, askers, [card, file]) }
  } catch (cause) {
    if (cause instanceof HandoffError) throw cause
    throw unusable(whyOf(cause), cause)
  }
}

function preparedFolder(keysFolder: string): string {
  const cards = cardFolder(keysFolder)
  mkdirSync(cards, { recursive: true, mode: 0o700 })
  if (isPrivate(cards)) return cards
  throw unusable(`${cards} has to be a folder that you alone can enter: chmod 700 ${cards}`)
}

/** What a process that was killed has left is taken away. */
async function refuseSecond(card: string): Promise<void> {
  const known = findCard(card)
  if (known === undefined) return
  const folder = path.dirname(card)
  if (await isAnswered(folder, known.socket)) {
    throw unusable('another process serves this store to you already: let it end')
  }
  rmSync(path.join(folder, known.socket), { force: true })
}

function isAnswered(folder: string, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    if (!isOwnSocket(path.join(folder, name))) return resolve(false)
    const address = addressOf(folder, name)
    const probe = connect(address.path)
    address.close()
    const end = (isThere: boolean): void => {
      probe.destroy()
      resolve(isThere)
    }
    probe.once('connect', () => end(true))
    probe.once('error', () => end(false))
    probe.setTimeout(probeMs, () => end(true))
  })
}

function listen(server: Server, folder: string, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const address = addressOf(folder, name)
    server.once('error', reject)
    server.listen(address.path, () => resolve())
    // the path is looked up in the call itself
    address.close()
  })
}

function writeCard(card: string, { socket, caller, token }: Card): void {
  const temporary = `${card}.${socket}`
  writeFileSync(temporary, `${socket}\n${caller}\n${token}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(temporary, card)
}

async function close(server: Server, askers: Askers, files: readonly string[]): Promise<void> {
  for (const file of files) {
    rmSync(file, { force: true })
    forgetTemporary(file)
  }
  askers.close()
  await new Promise<void>((resolve) => void server.close(() => resolve()))
}

function unusable(why: string, cause?: unknown): HandoffError {
  return new HandoffError('HSTORE_SOCKET_UNUSABLE', `the local socket can't be used: ${why}`, {
    cause,
  })
}
