import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { readRelay } from '../../../src/contracts/turns/markdown.ts'
import type { Store } from '../../../src/open-store.ts'
import type { AppendReport } from '../../../src/relay/append.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'
import { claimed } from './drafts.ts'
import type { RelayText } from './relay-store.ts'
import { exportText, importText, makeRelayStore } from './relay-store.ts'
import { appended, archiveRun, draftBy, freshRelay } from './relays.ts'

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const takenBy = (agent: string, relay: string): string =>
  Buffer.from(claimed(bytesOf(relay), agent)).toString()

const relay = ['0', '1', '2', '3'].reduce(
  (text, ask, i) => appended(text, draftBy(i % 2 === 0 ? 'alpha' : 'beta', { ask })),
  freshRelay,
)
const penned = takenBy('alpha', relay)
const blocksOf = (text: string): string[] =>
  readRelay(bytesOf(text)).turns.map(({ turn }) => turn.text)
interface Beside {
  readonly store: Store
  /** Appends to what stands in the file, which is written then. */
  readonly append: (text: string, archive?: string, ask?: string) => Promise<AppendReport>
  readonly import: (text: string, archive?: string) => ReturnType<typeof importText>
  readonly export: () => Promise<RelayText>
}

async function makeBeside(): Promise<Beside> {
  const folder = await makeTempFolder()
  const file = `${folder}/M8SHIFT.md`
  const store = await makeRelayStore(folder)
  return {
    store,
    append: async (text, archive = '', ask = 'go') => {
      await writeFile(file, text)
      return store.turns.append('demo', draftBy('alpha', { ask, at: new Date().toISOString() }), {
        path: file,
        files: {
          living: { bytes: bytesOf(text), name: 'M8SHIFT.md' },
          archive:
            archive === '' ? undefined : { bytes: bytesOf(archive), name: 'M8SHIFT.archive.md' },
        },
      })
    },
    import: (text, archive = '') => importText(store, 'demo', { relay: text, archive }),
    export: () => exportText(store, 'demo'),
  }
}

/** Appends a turn of alpha, and does to the store what a call does that is killed before the rename. */
async function appendCut({ store }: Beside, text: string, archive?: string): Promise<void> {
  const draft = draftBy('alpha', { ask: 'go', at: '2026-01-01T00:09:00Z' })
  // a file that was removed in between can't be written
  const path = `${await makeTempFolder()}/none.md`
  const living = { bytes: bytesOf(text), name: 'M8SHIFT.md' }
  const beside = archive === undefined ? undefined : { bytes: bytesOf(archive), name: 'a.md' }
  await expect(
    store.turns.append('demo', draft, { path, files: { living, archive: beside } }),
  ).rejects.toMatchObject({ code: 'HSTORE_INPUT_CHANGED' })
}

/** Returns a store that has a turn of alpha which the file lacks. */
async function makeAhead(text = penned): Promise<Beside & { readonly cid: string }> {
  const beside = await makeBeside()
  await beside.import(text)
  await appendCut(beside, text)
  const [last] = await beside.store.turns.log('demo')
  return { ...beside, cid: last!.cid }
}

describe('the same append after one that was cut short', () => {
  it('knows its turn in the file, whatever came behind it there', async () => {
    const { append, cid, export: exported, store } = await makeAhead()
    const written = (await exported()).relay
    const on = takenBy('alpha', appended(written, draftBy('beta', { ask: 'answer' })))
    expect(await append(on)).toMatchObject({ cid, number: '5', new: false, imported: 1 })
    expect(blocksOf((await exported()).relay)).toHaveLength(7)
    await store.close()
  })

  it('gives the CID of its turn, and counts the others, where older ones come with it', async () => {
    const parted = archiveRun(penned, '', 2)
    const { append, cid, import: again, store } = await makeAhead(parted.relay)
    await expect(again(parted.relay, parted.archive)).rejects.toMatchObject({
      code: 'HSTORE_RELAY_BEHIND',
    })
    expect(await append(parted.relay, parted.archive)).toMatchObject({
      cid,
      new: false,
      imported: 2,
    })
    await store.close()
  })

  it('writes it after a second one that took older turns in', async () => {
    const parted = archiveRun(penned, '', 2)
    const beside = await makeAhead(parted.relay)
    await appendCut(beside, parted.relay, parted.archive)
    const { append, cid, import: again, store } = beside
    await expect(again(parted.relay, parted.archive)).rejects.toMatchObject({
      code: 'HSTORE_RELAY_BEHIND',
      details: { changes: [{ number: '5' }] },
    })
    const done = await append(parted.relay, parted.archive)
    expect(done).toMatchObject({ cid, new: false, imported: 0 })
    await store.close()
  })

  it.each([
    ['models', '^lang:', 'models:   alpha=some-model\nlang:'],
    ['efforts', '^lang:', 'efforts:  alpha=low\nlang:'],
    ['note', '^note:.*$', 'note:     other'],
  ])(
    'writes what the store has, whatever the LOCK block says of %s by now',
    async (_, from, to) => {
      const { append, export: exported, store } = await makeAhead()
      const block = blocksOf((await exported()).relay).at(-1)!
      expect(block).not.toContain('model')
      expect(await append(penned.replace(new RegExp(from, 'm'), to))).toMatchObject({ new: false })
      expect(blocksOf((await exported()).relay).at(-1)).toBe(block)
      await store.close()
    },
  )

  it('is refused as any other by who does not hold the pen', async () => {
    const { append, import: again, store } = await makeAhead()
    const released = penned.replace(/^state:.*$/m, 'state:    AWAITING_ALPHA')
    await expect(append(released)).rejects.toMatchObject({
      code: 'HSTORE_TURN_REFUSED',
      message: expect.stringContaining('claim it first') as string,
    })
    await expect(again(released)).rejects.toThrow(
      'once alpha holds the pen, the same hstore turn append with --file writes it, or copy',
    )
    await expect(again(penned)).rejects.toThrow('imported; the same hstore turn append')
    const other = penned.replace(/^turn:.*$/m, 'turn:     9')
    await expect(again(other)).rejects.toThrow('imported; copy its block')
    expect(await append(penned)).toMatchObject({ new: false })
    await store.close()
  })
})

describe('a file that lacks a turn of the store', () => {
  it('is told so where another turn took its place, archived or not', async () => {
    const { import: again, store } = await makeAhead()
    const other = appended(penned, draftBy('alpha', { ask: 'other' }))
    const parted = archiveRun(other, '', 0)
    for (const [text, archive] of [[other], [parted.relay, parted.archive]] as const) {
      await expect(again(text, archive)).rejects.toMatchObject({
        code: 'HSTORE_RELAY_BEHIND',
        message: expect.stringMatching(
          /has turn 5 of alpha in its place \(another turn, or this one edited\).*before turn 5 of alpha, which must stay/,
        ) as string,
        details: { changes: [{ change: 'missing', number: '5' }] },
      })
    }
    await store.close()
  })
})

describe('the files that are given', () => {
  it('are those of the call, whatever becomes of their Buffers', async () => {
    const store = await makeRelayStore(await makeTempFolder())
    const bytes = Buffer.from(penned)
    const imported = store.turns.import('demo', { living: { bytes, name: 'M8SHIFT.md' } })
    bytes.fill(0x20)
    await imported
    expect((await exportText(store, 'demo')).relay).toBe(penned)
    await store.close()
  })
})
