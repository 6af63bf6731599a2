import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import path from 'node:path'
import { bytesOf, randomOf } from './envelope.ts'

/** Ways in which a file can be damaged, by name. */
export const damages: ReadonlyMap<string, (file: string, seed: number) => Promise<void>> = new Map([
  ['emptied', (file) => truncate(file, 0)],
  ['cut to half', async (file) => truncate(file, (await sizeOf(file)) >> 1)],
  ['cut by 1 byte', async (file) => truncate(file, Math.max(0, (await sizeOf(file)) - 1))],
  ['zeroed', async (file) => writeFile(file, Buffer.alloc(await sizeOf(file)))],
  ['made random', async (file, seed) => writeFile(file, bytesOf(`${seed}`, await sizeOf(file)))],
  ['zeroed for 512 bytes', (file) => edit(file, (bytes) => bytes.subarray(0, 512).fill(0))],
  [
    'zeroed in the middle',
    (file) =>
      edit(file, (bytes) =>
        bytes
          .subarray(bytes.length >> 1)
          .subarray(0, 512)
          .fill(0),
      ),
  ],
  [
    'zeroed from the middle on',
    (file) => edit(file, (bytes) => bytes.subarray(bytes.length >> 1).fill(0)),
  ],
  ['flipped in one bit', flipBit],
  ['flipped in another bit', (file, seed) => flipBit(file, seed + 1)],
  ['flipped in a third bit', (file, seed) => flipBit(file, seed + 2)],
  [
    'doubled by garbage',
    async (file, seed) => {
      const bytes = await readFile(file)
      await writeFile(file, Buffer.concat([bytes, bytesOf(`${seed}`, bytes.length)]))
    },
  ],
  ['deleted', (file) => rm(file)],
  [
    'replaced by a folder',
    async (file) => {
      await rm(file)
      await mkdir(file)
    },
  ],
  [
    'replaced by a link',
    async (file) => {
      const bytes = await readFile(file)
      await rm(file)
      await writeFile(`${file}.elsewhere`, bytes)
      await symlink(`${file}.elsewhere`, file)
    },
  ],
  ['made unreadable', (file) => chmod(file, 0o000)],
])

/** Returns the regular files below a folder, relative to it, sorted. */
export async function regularFiles(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  return found
    .filter((item) => item.isFile())
    .map((item) => path.relative(folder, path.join(item.parentPath, item.name)))
    .sort()
}

async function sizeOf(file: string): Promise<number> {
  return (await lstat(file)).size
}

async function edit(file: string, change: (bytes: Buffer) => unknown): Promise<void> {
  const bytes = await readFile(file)
  change(bytes)
  await writeFile(file, bytes)
}

async function flipBit(file: string, seed: number): Promise<void> {
  await edit(file, (bytes) => {
    const random = randomOf(seed)
    if (bytes.length > 0)
      bytes[Math.floor(random() * bytes.length)]! ^= 1 << Math.floor(random() * 8)
  })
}
