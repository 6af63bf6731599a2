import { readFile, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { writeDurably } from '../../../src/durable-file.ts'
import { HandoffError } from '../../../src/errors.ts'
import type { Store } from '../../../src/open-store.ts'
import type { AppendReport } from '../../../src/relay/append.ts'
import { takeWriterLock } from '../../../src/relay/writer-lock.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'
import { claimed } from './drafts.ts'
import { importText, makeRelayStore } from './relay-store.ts'
import { draftBy, freshRelay } from './relays.ts'

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const penned = Buffer.from(claimed(bytesOf(freshRelay), 'alpha')).toString()

interface Beside {
  readonly folder: string
  readonly file: string
  readonly store: Store
  readonly append: (read: string, ask?: string) => Promise<AppendReport>
  readonly import: () => ReturnType<typeof importText>
}

/** Returns a store with a relay beside it whose pen alpha has. */
async function makeBeside(): Promise<Beside> {
  const folder = await makeTempFolder()
  const file = `${folder}/M8SHIFT.md`
  await writeFile(file, penned)
  const store = await makeRelayStore(folder)
  return {
    folder,
    file,
    store,
    append: (read, ask = 'go') =>
      store.turns.append('demo', draftBy('alpha', { ask }), {
        path: file,
        files: { living: { bytes: bytesOf(read), name: 'M8SHIFT.md' } },
      }),
    import: async () =>
      importText(store, 'demo', { relay: await readFile(file, 'utf8'), archive: '' }),
  }
}

describe('a turn that is in the store while its file could not be written', () => {
  it('is lacking, never removed, and the same call ends the job whatever else changed', async () => {
    const { append, file, import: again, store } = await makeBeside()
    const remarked = penned
      .replace('lang:     en', 'lang:     fr')
      .replace('## Turn', 'Mind.\n\n## Turn')
    await writeFile(file, remarked)
    await expect(append(penned)).rejects.toMatchObject({
      code: 'HSTORE_INPUT_CHANGED',
      message: expect.stringContaining('give the same command again') as string,
    })
    expect(await readFile(file, 'utf8')).toBe(remarked)
    await expect(again()).rejects.toMatchObject({ code: 'HSTORE_RELAY_BEHIND' })
    await expect(append(remarked, 'stop')).rejects.toMatchObject({ code: 'HSTORE_RELAY_BEHIND' })
    expect(await append(remarked)).toMatchObject({ new: false, number: '1' })
    const now = await readFile(file, 'utf8')
    expect(now).toContain('Mind.\n')
    expect(now).toContain('TURN 1 alpha END')
    expect(await again()).toMatchObject({ new: false, turns: 2 })
    // the file had it: from now on it can be removed
    await writeFile(file, penned)
    await expect(again()).rejects.toMatchObject({ code: 'HSTORE_RELAY_CHANGED' })
    await store.close()
  })

  it('is found in a file that was written when the call was killed behind it', async () => {
    const { append, file, store } = await makeBeside()
    await append(penned)
    const written = await readFile(file, 'utf8')
    await store.close()
    const next = await makeBeside()
    await writeFile(next.file, written)
    await expect(next.append(penned)).rejects.toMatchObject({ code: 'HSTORE_INPUT_CHANGED' })
    expect(await next.append(written)).toMatchObject({ new: false, number: '1' })
    expect(await readFile(next.file, 'utf8')).toBe(written)
    expect(await next.import()).toMatchObject({ new: false, turns: 2 })
    await next.store.close()
  })
})

describe('M8Shift’s own lock', () => {
  it('is waited for, and what was written under it is not written over', async () => {
    const { append, file, folder, store } = await makeBeside()
    const lock = `${folder}/.m8shift.lock`
    await writeFile(lock, '1:1')
    const ours = append(penned).catch((error: unknown) => error)
    await sleep(300)
    const theirs = penned.replace('note:     session', 'note:     claimed, session')
    await writeFile(file, theirs)
    await rm(lock)
    expect(await ours).toMatchObject({ code: 'HSTORE_INPUT_CHANGED' })
    expect(await readFile(file, 'utf8')).toBe(theirs)
    expect(await append(theirs)).toMatchObject({ new: false })
    expect((await readdir(folder)).filter((name) => name.startsWith('.m8shift'))).toEqual([])
    await store.close()
  })

  it('is taken from who left it behind a minute ago, and from nobody else', async () => {
    const folder = await makeTempFolder()
    const lock = `${folder}/.m8shift.lock`
    await writeFile(lock, '1:1')
    await expect(takeWriterLock(folder, 100)).rejects.toMatchObject({ code: 'HSTORE_RELAY_BUSY' })
    const old = Date.now() / 1000 - 61
    await utimes(lock, old, old)
    const ours = await takeWriterLock(folder, 100)
    expect(await ours.isHeld()).toBe(true)
    await writeFile(lock, '2:2')
    expect(await ours.isHeld()).toBe(false)
    await ours.release()
    expect(await readFile(lock, 'utf8')).toBe('2:2')
  })

  it('is followed by no link, and left by no folder that can’t be written', async () => {
    const folder = await makeTempFolder()
    await writeFile(`${folder}/theirs`, 'kept')
    await symlink('theirs', `${folder}/.m8shift.lock`)
    await expect(takeWriterLock(folder, 100)).rejects.toMatchObject({ code: 'HSTORE_RELAY_BUSY' })
    expect(await readFile(`${folder}/theirs`, 'utf8')).toBe('kept')
    await expect(takeWriterLock(`${folder}/none`, 100)).rejects.toMatchObject({
      code: 'HSTORE_OUTPUT_UNWRITABLE',
    })
  })
})

describe('a file that is replaced', () => {
  it('stays where it is no longer what it was directly before', async () => {
    const folder = await makeTempFolder()
    const file = `${folder}/a.md`
    await writeFile(file, 'old')
    const isChanged = async (): Promise<void> => {
      throw new HandoffError('HSTORE_INPUT_CHANGED', 'changed')
    }
    await expect(writeDurably(file, 'new', 0o600, isChanged)).rejects.toThrow('changed')
    expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual(['old', ['a.md']])
  })
})
