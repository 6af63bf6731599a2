import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'

/** Systems take between 104 and 108 bytes for the path of a socket. */
const maxPathBytes = 100

/** The path of a socket as the system takes it. */
export interface Address {
  readonly path: string
  /** To be called when the address was used. */
  close(): void
}

/** Returns the address of a socket; a folder whose path is too long is opened, and named by its descriptor (Linux only). */
export function addressOf(folder: string, name: string): Address {
  const whole = join(folder, name)
  if (Buffer.byteLength(whole) <= maxPathBytes) return { path: whole, close: () => undefined }
  const { O_DIRECTORY, O_RDONLY } = constants
  const fd = openSync(folder, O_RDONLY | O_DIRECTORY)
  return { path: `/proc/self/fd/${fd}/${name}`, close: () => closeSync(fd) }
}
