import { open, rename, unlink } from 'node:fs/promises'
import path from 'node:path'
import { HandoffError } from './errors.ts'
import { whyUnwritten } from './kernel/errno.ts'
import { makeFolder } from './kernel/files.ts'

/** Writes a small file so that a crash leaves the old one or the new one: temporary name, sync, rename, folder sync. */
export async function writeDurably(file: string, text: string, mode: number): Promise<void> {
  const folder = path.dirname(file)
  await makeFolder(folder, 0o700).catch((error: unknown) => {
    throw unwritable(file, error)
  })
  const temporary = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`
  try {
    const handle = await open(temporary, 'wx', mode)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(temporary, file)
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    throw unwritable(file, error)
  }
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Returns the object that a small JSON file of hstore's own holds; an empty one when it holds none. */
export function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function unwritable(file: string, cause: unknown): HandoffError {
  return new HandoffError(
    'HSTORE_OUTPUT_UNWRITABLE',
    `${file} can't be written: ${whyUnwritten(cause)}`,
    {
      cause,
    },
  )
}
