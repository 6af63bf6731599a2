import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import path from 'node:path'
import { HandoffError } from '../errors.ts'
import type { Io } from './io.ts'

const maxBytes = 64 * 1024 * 1024

/** Returns the bytes of an input file, or of stdin for `-`; at most 64 MiB. */
export async function readInput(io: Io, file: string): Promise<Uint8Array> {
  const bytes =
    file === '-' ? await io.stdin() : await readFileBounded(path.resolve(io.cwd, file), file)
  if (bytes.length > 0) return bytes
  throw new HandoffError('HSTORE_INPUT_UNREADABLE', `${file}: is empty`)
}

async function readFileBounded(absolute: string, shown: string): Promise<Uint8Array> {
  try {
    // without O_NONBLOCK a named pipe would wait for a writer for ever
    await using handle = await open(absolute, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = await handle.stat()
    if (!stat.isFile())
      throw refused(shown, stat.isDirectory() ? 'is a folder' : 'is no regular file')
    if (stat.size > maxBytes) throw refused(shown, `is ${stat.size} bytes, more than ${maxBytes}`)
    return await handle.readFile()
  } catch (cause) {
    if (cause instanceof HandoffError) throw cause
    const code = (cause as NodeJS.ErrnoException).code ?? ''
    const why =
      code === 'ENOENT' ? 'there is no such file' : code === 'EACCES' ? 'may not be read' : code
    throw refused(shown, why, cause)
  }
}

function refused(file: string, why: string, cause?: unknown): HandoffError {
  return new HandoffError('HSTORE_INPUT_UNREADABLE', `${file}: ${why}`, {
    cause,
    details: { path: file },
  })
}
