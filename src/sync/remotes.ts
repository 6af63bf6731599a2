import { createHmac } from 'node:crypto'
import path from 'node:path'
import type { CidText } from '../../store/cid-text.ts'
import { parseObject, writeDurably } from '../durable-file.ts'
import { HandoffError } from '../errors.ts'
import { readBounded } from '../kernel/files.ts'
import { quoted } from '../kernel/shown.ts'
import { readMarkSecret } from '../trust/pin-file.ts'

/** Another copy of the store, by a name of this user's. */
export interface Remote {
  readonly name: string
  readonly url: string
}

const maxBytes = 1024 * 1024
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const fileName = 'remotes.json'

/**
 * The remotes of a store. They stand in its folder, each under a secret of the user's: those that somebody shipped with it
 * count for nothing, so that nobody else decides whom this user contacts.
 */
export class Remotes {
  readonly #file: string
  readonly #genesis: CidText
  readonly #secret: Uint8Array

  private constructor(folder: string, genesis: CidText, secret: Uint8Array) {
    this.#file = path.join(folder, fileName)
    this.#genesis = genesis
    this.#secret = secret
  }

  static async open(folder: string, keysFolder: string, genesis: CidText): Promise<Remotes> {
    return new Remotes(folder, genesis, await readMarkSecret(keysFolder))
  }

  /** Returns this user's remotes, by name. */
  async list(): Promise<readonly Remote[]> {
    const bytes = await readBounded(this.#file, maxBytes).catch(() => undefined)
    if (bytes === undefined) return []
    const { remotes } = parseObject(new TextDecoder().decode(bytes))
    const found = Array.isArray(remotes) ? remotes : []
    return found.flatMap((one) => this.#ownOf(one)).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** Returns the remote of a name, or undefined. */
  async find(name: string): Promise<Remote | undefined> {
    return (await this.list()).find((remote) => remote.name === name)
  }

  /**
   * Adds a remote.
   *
   * @throws {HandoffError} `HSTORE_REMOTE_EXISTS` when the name is another's; `HSTORE_USAGE` when it is none.
   */
  async add(remote: Remote): Promise<void> {
    if (!nameForm.test(remote.name)) {
      const message = `${quoted(remote.name)} is no name of a remote: letters, digits, dots, - and _, at most 64`
      throw new HandoffError('HSTORE_USAGE', message)
    }
    const there = await this.find(remote.name)
    if (there?.url === remote.url) return
    if (there !== undefined) {
      const message = `${remote.name} is ${there.url} already: remove it first, or choose another name`
      throw new HandoffError('HSTORE_REMOTE_EXISTS', message)
    }
    await this.#write([...(await this.list()), remote])
  }

  /** Removes a remote; throws `HSTORE_REMOTE_UNKNOWN` when there is none of the name. */
  async remove(name: string): Promise<void> {
    const all = await this.list()
    if (!all.some((remote) => remote.name === name)) throw unknownRemote(name)
    await this.#write(all.filter((remote) => remote.name !== name))
  }

  async #write(remotes: readonly Remote[]): Promise<void> {
    const rows = remotes.map(({ name, url }) => ({ name, url, mac: this.#mac({ name, url }) }))
    await writeDurably(this.#file, `${JSON.stringify({ remotes: rows }, null, 2)}\n`, 0o600)
  }

  #ownOf(value: unknown): Remote[] {
    const { name, url, mac } = (value ?? {}) as Record<string, unknown>
    if (typeof name !== 'string' || typeof url !== 'string') return []
    return mac === this.#mac({ name, url }) ? [{ name, url: withoutPassword(url) }] : []
  }

  #mac({ name, url }: Remote): string {
    const text = ['remote', this.#genesis, name, url].join('\n')
    return createHmac('sha256', this.#secret).update(text).digest('base64url')
  }
}

/** Addresses were once kept with a password: it is asked for by ssh, and of no use over HTTP. */
function withoutPassword(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/@:]*):[^/]*@/i, '$1@')
}

/** Returns the error for a remote that is not known. */
export function unknownRemote(name: string): HandoffError {
  const message = `there is no remote ${quoted(name)}: hstore remote list names them, hstore remote add adds one`
  return new HandoffError('HSTORE_REMOTE_UNKNOWN', message)
}
