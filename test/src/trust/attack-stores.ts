import { expect } from 'vitest'
import type { CidText } from '../../../store/cid-text.ts'
import { envelopeOf } from '../../support/envelope.ts'
import { signerOf } from '../../support/forge.ts'
import type { TestStore } from '../../support/store.ts'
import { agents, copyStore, json, makeTestStore, ok } from '../../support/store.ts'
import path from 'node:path'

/** A store of a test file's own, copied from one that it makes once. */
export class AttackStores {
  readonly shared: string
  #empty: TestStore | undefined
  #copies = 0

  /** @param shared - The folder of the file's stores. */
  constructor(shared: string) {
    this.shared = shared
  }

  /** Returns a folder that nothing has yet. */
  place(): string {
    return path.join(this.shared, `copy-${this.#copies++}`)
  }

  /** Returns a store with keys of all three agents. */
  async fresh(): Promise<TestStore> {
    this.#empty ??= await makeTestStore(path.join(this.shared, 'empty'))
    return copyStore(this.#empty, this.place())
  }

  /** Returns a store in which agent-a has put R1 and R2, and its did. */
  async withWork(): Promise<Worked> {
    const store = await this.fresh()
    const one = await put(store, 'R1', agents.a)
    const two = await put(store, 'R2', agents.a, ['R1'])
    return { store, did: (await signerOf(store, agents.a)).did, one, two }
  }
}

interface Worked {
  readonly store: TestStore
  readonly did: string
  readonly one: CidText
  readonly two: CidText
}

/** Returns a revision of the one workspace. */
export function document(
  revision: string,
  author: string,
  parents: readonly string[] = [],
): object {
  return envelopeOf({ workspace: 'w', revision, author, parents })
}

/** Puts a revision and returns its entry. */
export async function put(
  store: TestStore,
  revision: string,
  author: string,
  parents: readonly string[] = [],
): Promise<CidText> {
  const stdin = JSON.stringify(document(revision, author, parents))
  return (await ok(store.runWith({ stdin }, 'put', '-', '--as', author))).out.trim() as CidText
}

/** Returns what `roster check` says of an entry. */
export async function standing(
  store: TestStore,
  cid: string,
): Promise<{ standing: string; lines: string[] }> {
  return json(await store.run('roster', 'check', cid, '--json'))
}

/** Expects each entry to have its standing. */
export async function expectStandings(
  store: TestStore,
  wanted: Readonly<Record<string, string>>,
): Promise<void> {
  const found: Record<string, string> = {}
  for (const cid of Object.keys(wanted)) found[cid] = (await standing(store, cid)).standing
  expect(found).toEqual(wanted)
}

/** Returns the version of the highest accepted roster. */
export async function version(store: TestStore): Promise<number> {
  return json<{ version: number }>(await store.run('roster', 'show', '--json')).version
}
