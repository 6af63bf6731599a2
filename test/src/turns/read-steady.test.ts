import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { HandoffError } from '../../../src/errors.ts'
import type { RelayFiles } from '../../../src/relay/files.ts'
import { readSteady } from '../../../src/relay/read-steady.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'

const filesOf = (relay: string, archive?: string): RelayFiles => ({
  living: { bytes: Buffer.from(relay), name: 'M8SHIFT.md' },
  archive:
    archive === undefined ? undefined : { bytes: Buffer.from(archive), name: 'M8SHIFT.archive.md' },
})

/** Returns what reads one thing after the other, the last again and again, and counts. */
function inTurn(...steps: readonly (RelayFiles | Error | (() => Promise<RelayFiles>))[]) {
  const reader = {
    count: 0,
    read: async (): Promise<RelayFiles> => {
      const step = steps[Math.min(reader.count++, steps.length - 1)]!
      if (step instanceof Error) throw step
      return typeof step === 'function' ? step() : step
    },
  }
  return reader
}

const gone = new HandoffError('HSTORE_INPUT_UNREADABLE', 'gone')

describe('relay files that others write', () => {
  it.each([
    ['the archive was written between', [filesOf('ab', 'a'), filesOf('b', 'a')], 3],
    ['the archive came between', [filesOf('ab'), filesOf('b', 'a')], 3],
    ['the relay was missing for a moment', [gone, filesOf('b', 'a')], 3],
    ['nothing happened', [filesOf('b', 'a')], 2],
  ])('are those of one moment: %s', async (_, steps, count) => {
    const folder = await makeTempFolder()
    const reader = inTurn(...steps)
    expect(await readSteady(`${folder}/M8SHIFT.md`, reader.read)).toEqual(filesOf('b', 'a'))
    expect(reader.count).toBe(count)
  })

  it('are not those that were read while another held the lock', async () => {
    const folder = await makeTempFolder()
    const lock = `${folder}/.m8shift.lock`
    await writeFile(`${folder}/M8SHIFT.md`, '')
    const half = async (): Promise<RelayFiles> => {
      await writeFile(lock, '1:1')
      setTimeout(() => void rm(lock), 100)
      return filesOf('ab', 'a')
    }
    const reader = inTurn(half, filesOf('ab', 'a'), filesOf('b', 'a'))
    expect(await readSteady(`${folder}/M8SHIFT.md`, reader.read)).toEqual(filesOf('b', 'a'))
  })

  it('are waited for no longer than told, and no lock that was left behind is waited for', async () => {
    const folder = await makeTempFolder()
    const lock = `${folder}/.m8shift.lock`
    await writeFile(lock, '1:1')
    const reader = inTurn(filesOf('a'))
    await expect(readSteady(`${folder}/M8SHIFT.md`, reader.read, 100)).rejects.toMatchObject({
      code: 'HSTORE_RELAY_BUSY',
      message: expect.stringContaining('nothing was read') as string,
    })
    expect(reader.count).toBe(0)
    const old = Date.now() / 1000 - 61
    await utimes(lock, old, old)
    expect(await readSteady(`${folder}/M8SHIFT.md`, reader.read, 100)).toEqual(filesOf('a'))
  })

  it('are told when they can’t be read, or change all the time', async () => {
    const folder = await makeTempFolder()
    await mkdir(`${folder}/a`)
    await expect(readSteady(`${folder}/a/M8SHIFT.md`, inTurn(gone).read)).rejects.toThrow('gone')
    const changing = inTurn(...Array.from({ length: 50 }, (_, i) => filesOf(`${i}`)))
    await expect(readSteady(`${folder}/M8SHIFT.md`, changing.read)).rejects.toMatchObject({
      code: 'HSTORE_INPUT_CHANGED',
    })
  })
})
