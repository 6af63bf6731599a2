import path from 'node:path'
import { HandoffError } from '../errors.ts'
import { readBounded, UnfitFile } from '../kernel/files.ts'
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
    return await readBounded(absolute, maxBytes)
  } catch (cause) {
    if (cause instanceof UnfitFile) throw refused(shown, cause.message, cause)
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
