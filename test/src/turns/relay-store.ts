import path from 'node:path'
import { init } from '../../../src/init-verb.ts'
import type { Store } from '../../../src/open-store.ts'
import { openStore } from '../../../src/open-store.ts'
import type { ImportReport } from '../../../src/relay/import.ts'

/** Relay and archive as text; no archive where it is empty. */
export interface RelayText {
  readonly relay: string
  readonly archive: string
}

/** Returns a new store below a folder, open, of an agent that a relay may list. */
export async function makeRelayStore(folder: string, agent = 'alpha'): Promise<Store> {
  const keys = path.join(folder, 'keys')
  await init({
    cwd: folder,
    keys,
    agent,
    machine: 'bench',
    waitMs: 1000,
    noPassphrase: true,
    passphrase: async () => undefined,
  })
  return openStore({ store: path.join(folder, '.hstore'), keys, agent, waitMs: 1000 })
}

/** Imports files that are given as text. */
export function importText(
  store: Store,
  name: string,
  { relay, archive }: RelayText,
): Promise<ImportReport> {
  const file = (text: string, called: string) => ({
    bytes: new Uint8Array(Buffer.from(text)),
    name: called,
  })
  return store.turns.import(name, {
    living: file(relay, 'M8SHIFT.md'),
    archive: archive === '' ? undefined : file(archive, 'M8SHIFT.archive.md'),
  })
}

/** Returns the files that a store gives back, as text. */
export async function exportText(store: Store, name: string): Promise<RelayText> {
  const { living, archive } = await store.turns.export(name)
  return {
    relay: Buffer.from(living).toString(),
    archive: Buffer.from(archive ?? []).toString(),
  }
}
