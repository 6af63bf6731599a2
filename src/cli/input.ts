import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { HandoffError } from '../errors.ts'
import { whyOf } from '../kernel/errno.ts'
import { HstoreError } from '../kernel/errors.ts'
import { readBounded, UnfitFile } from '../kernel/files.ts'
import type { Io } from './io.ts'
import { UsageError } from './io.ts'

const maxBytes = 64 * 1024 * 1024

/** What the caller has opened for this process: `<(…)` of a shell is such a path. */
const descriptor = /^\/(?:dev|proc\/self)\/fd\/(\d{1,6})$/

const taken = new WeakSet<Io>()

/** Returns the bytes of an input file, or of stdin for `-`; at most 64 MiB. */
export async function readInput(io: Io, file: string): Promise<Uint8Array> {
  const bytes = await readGiven(io, file, maxBytes).catch((cause: unknown) => {
    if (cause instanceof HstoreError || cause instanceof UsageError) throw cause
    throw refused(file, whyOf(cause), cause)
  })
  if (bytes.length > 0) return bytes
  throw refused(file, 'is empty')
}

/**
 * Returns the bytes of a regular file, of stdin for `-`, or of what the caller has opened, at most `limit`. A named pipe
 * is not waited for.
 *
 * @throws {UnfitFile} when it is something else or larger; an error of node:fs when it can't be read.
 */
export async function readGiven(io: Io, file: string, limit: number): Promise<Uint8Array> {
  const at = await streamOf(io, file)
  if (at === undefined) return readBounded(path.resolve(io.cwd, file), limit)
  const bytes = at === 0 ? await readStdin(io) : await readStream(at, limit)
  if (bytes.length > limit) throw new UnfitFile(`is more than ${limit} bytes`)
  return bytes
}

/**
 * Returns the bytes of an input as they come, of any length: a regular file, stdin for `-`, or what the caller has
 * opened.
 */
export async function openInput(
  io: Io,
  file: string,
): Promise<AsyncIterable<Uint8Array> | Uint8Array> {
  const at = await streamOf(io, file)
  if (at === 0) {
    takeStdin(io)
    return io.stdinChunks?.() ?? io.stdin()
  }
  if (at !== undefined) return createReadStream('', { fd: at, autoClose: false })
  const found = path.resolve(io.cwd, file)
  const stats = await stat(found).catch((cause: unknown) => {
    throw refused(file, whyOf(cause), cause)
  })
  if (stats.isFile()) return createReadStream(found, { highWaterMark: 1024 * 1024 })
  throw refused(file, stats.isDirectory() ? 'is a folder' : 'is no regular file')
}

/** Returns whether an input is read as it comes, from no file of its own: its folder is the working directory then. */
export async function isStream(io: Io, file: string): Promise<boolean> {
  return (await streamOf(io, file)) !== undefined
}

/** The descriptor of a pipe or the like that the caller has opened. */
async function streamOf(io: Io, file: string): Promise<number | undefined> {
  if (file === '-') return 0
  const absolute = path.resolve(io.cwd, file)
  const number = absolute === '/dev/stdin' ? '0' : descriptor.exec(absolute)?.[1]
  if (number === undefined) return undefined
  io.assertDescriptor?.()
  const found = await stat(absolute).catch(() => undefined)
  const isGiven = found?.isFIFO() || found?.isSocket() || found?.isCharacterDevice()
  return isGiven === true ? Number(number) : undefined
}

async function readStdin(io: Io): Promise<Uint8Array> {
  takeStdin(io)
  return io.stdin()
}

function takeStdin(io: Io): void {
  if (taken.has(io)) throw new UsageError('standard input can be read once: - stands in two places')
  taken.add(io)
}

/** Reads what was opened, not its path: a pipe opened anew would not wait for its writer. */
async function readStream(fd: number, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of createReadStream('', { fd, autoClose: false })) {
    const bytes = chunk as Uint8Array
    chunks.push(bytes)
    size += bytes.length
    if (size > limit) break
  }
  return Buffer.concat(chunks)
}

function refused(file: string, why: string, cause?: unknown): HandoffError {
  return new HandoffError('HSTORE_INPUT_UNREADABLE', `${file}: ${why}`, {
    cause,
    details: { path: file },
  })
}
