import { link, open, rename, unlink } from 'node:fs/promises'
import path from 'node:path'
import { HandoffError } from './errors.ts'
import { whyUnwritten } from './kernel/errno.ts'
import { HstoreError } from './kernel/errors.ts'
import { makeFolder } from './kernel/files.ts'
import { forgetTemporary, noteTemporary } from './kernel/temporaries.ts'

/**
 * Writes a file so that a crash leaves the old one or the new one: temporary name, sync, rename, folder sync.
 *
 * @param assertStill - Called directly before the rename; what it throws leaves the old file.
 */
export async function writeDurably(
  file: string,
  data: string | Uint8Array,
  mode: number,
  assertStill?: () => Promise<void>,
): Promise<void> {
  await makeFolder(path.dirname(file), 0o700).catch((error: unknown) => {
    throw unwritable(file, error)
  })
  await placeFile(file, data, mode, async (temporary) => {
    await assertStill?.()
    await rename(temporary, file)
  })
}

/**
 * Writes a file that is not there yet, as a whole or not at all.
 *
 * @throws {HandoffError} `HSTORE_OUTPUT_EXISTS` when there is something of that name, `HSTORE_OUTPUT_UNWRITABLE`.
 */
export async function writeNewFile(
  file: string,
  data: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  await placeFile(file, data, 0o666, async (temporary) => {
    await link(temporary, file) // unlike a rename, over nothing that is there
    await unlink(temporary)
  })
}

async function placeFile(
  file: string,
  data: string | Uint8Array | AsyncIterable<Uint8Array>,
  mode: number,
  place: (temporary: string, file: string) => Promise<void>,
): Promise<void> {
  const temporary = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}.tmp`
  noteTemporary(temporary)
  try {
    const handle = await open(temporary, 'wx', mode)
    try {
      if (typeof data === 'string' || data instanceof Uint8Array) await handle.writeFile(data)
      else for await (const chunk of data) await handle.writeFile(chunk)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await place(temporary, file)
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    // what the data come from may have a reason of its own
    throw error instanceof HstoreError ? error : unwritable(file, error)
  } finally {
    forgetTemporary(temporary)
  }
  const handle = await open(path.dirname(file), 'r')
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
  if ((cause as NodeJS.ErrnoException).code === 'EEXIST') {
    const message = `${file} is there already: name a new file`
    return new HandoffError('HSTORE_OUTPUT_EXISTS', message, { cause })
  }
  return new HandoffError(
    'HSTORE_OUTPUT_UNWRITABLE',
    `${file} can't be written: ${whyUnwritten(cause)}`,
    {
      cause,
    },
  )
}
