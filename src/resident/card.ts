import { lstatSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/*
 * Whoever starts a verb looks here first, so this file loads nothing. The card of a resident process stands in the folder
 * of keys, not in the store: who can't reach the keys can neither ask it nor answer in its place.
 */

/** How a resident process is reached: kept in a file that this user alone can read. */
export interface Card {
  /** The socket's name, in the folder of the card. */
  readonly socket: string
  /** Which build it runs, and as whom: see `callerOf`. */
  readonly caller: string
  /** What a request has to show. */
  readonly token: string
}

const maxCardBytes = 4096

/** Returns the folder of the cards, beside the keys. */
export function cardFolder(keysFolder: string): string {
  return join(keysFolder, 'resident')
}

/** Returns the path of a store's card. A store is known by its folder, by whatever path it is reached. */
export function cardPath(keysFolder: string, storeFolder: string): string {
  const { dev, ino } = statSync(storeFolder, { bigint: true })
  return join(cardFolder(keysFolder), `${dev}-${ino}`)
}

/** Returns a card, or undefined where none is that this user alone can have made. */
export function findCard(file: string): Card | undefined {
  try {
    if (!isPrivate(dirname(file))) return undefined
    const stats = lstatSync(file)
    if (!stats.isFile() || stats.uid !== process.getuid?.() || stats.size > maxCardBytes)
      return undefined
    const [socket, caller, token, ...rest] = readFileSync(file, 'utf8').split('\n')
    if (!/^[0-9a-f]{16}$/.test(socket ?? '') || !caller || !token || rest.join('') !== '')
      return undefined
    return { socket: String(socket), caller, token }
  } catch {
    return undefined
  }
}

/** Returns whether a folder is one that its owner, this user, alone can enter. */
export function isPrivate(folder: string): boolean {
  const stats = lstatSync(folder)
  return stats.isDirectory() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0
}

/** Returns whether a path is a socket of this user. */
export function isOwnSocket(file: string): boolean {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  return stats !== undefined && stats.isSocket() && stats.uid === process.getuid?.()
}
