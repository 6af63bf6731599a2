import { execFileSync } from 'node:child_process'
import { appendFile, chmod, mkdir, open, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { equalBytes } from '../../src/kernel/bytes.ts'
import type { Database } from '../../store/database.ts'
import type { StagedArtifact } from '../../store/stage-artifact.ts'
import {
  artifactPath,
  checkArtifact,
  listArtifactFiles,
  readArtifact,
  sizeOfArtifact,
} from '../../store/artifacts.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { openDatabase } from '../../store/database.ts'
import { stageArtifact, stagedFile } from '../../store/stage-artifact.ts'
import { makeTempFolder } from '../support/temp-folder.ts'

const mib = 1024 * 1024
const absentBytes = new TextEncoder().encode('absent')
const absent = cidTextOf(absentBytes, 'raw')

describe('stageArtifact', () => {
  it.each([0, 1, mib - 1, mib])('keeps %i bytes as a block', async (sizeBytes) => {
    const database = await makeStore()
    const bytes = bytesOf(sizeBytes)
    for (const source of [bytes, await fileOf(bytes)]) {
      const staged = await stageArtifact(database.directory, source)
      expect(staged).toMatchObject({ cid: cidTextOf(bytes, 'raw'), sizeBytes })
      expect(staged.bytes?.constructor).toBe(Uint8Array)
      expect(equalBytes(staged.bytes ?? absentBytes, bytes)).toBe(true)
      await staged.publish()
      await staged.discard()
    }
    expect(await filesIn(database)).toEqual({ temporary: 0, artifacts: 0 })
  })

  it.each([mib + 1, 5 * mib + 7])('makes a file of %i bytes', async (sizeBytes) => {
    const database = await makeStore()
    const { directory } = database
    const bytes = bytesOf(sizeBytes)
    for (const source of [bytes, await fileOf(bytes)]) {
      const staged = await stageArtifact(directory, source)
      expect(staged).toMatchObject({ cid: cidTextOf(bytes, 'raw'), sizeBytes })
      expect(staged.bytes).toBeUndefined()
      expect(await filesIn(database)).toMatchObject({ temporary: 1 })
      await staged.publish()
      await staged.publish()
      await staged.discard()
      expect(await filesIn(database)).toEqual({ temporary: 0, artifacts: 1 })
      const path = artifactPath(directory, staged.cid)
      expect(path).toBe(join(directory, 'artifacts', staged.cid.slice(-3, -1), staged.cid))
      expect((await stat(path)).mode & 0o777).toBe(0o400)
      expect(await checkArtifact(database, staged.cid)).toBe('ok')
    }
  })

  it('lets two publish one file, which only one can move, and no file that is lost or another', async () => {
    const database = await makeStore()
    const { directory } = database
    const { cid, sizeBytes } = await stageArtifact(directory, bytesOf(2 * mib))
    const [name] = await readdir(join(directory, 'tmp'))
    const both = [1, 2, 3].map(() =>
      stagedFile(directory, join(directory, 'tmp', name!), { cid, sizeBytes }),
    )
    await Promise.all(both.slice(0, 2).map((one) => one.publish()))
    expect(await checkArtifact(database, cid)).toBe('ok')
    const path = artifactPath(directory, cid)
    await chmod(path, 0o600)
    await appendFile(path, 'x')
    await expect(both[2]!.publish()).rejects.toMatchObject({ code: 'HSTORE_STORE_DAMAGED' })
    await rm(path)
    const lost = stagedFile(directory, join(directory, 'tmp', name!), { cid, sizeBytes })
    await expect(lost.publish()).rejects.toMatchObject({ code: 'HSTORE_STORE_DAMAGED' })
  })

  it('leaves nothing of what is discarded', async () => {
    const database = await makeStore()
    const staged = await stageArtifact(database.directory, bytesOf(2 * mib))
    await staged.discard()
    await staged.discard()
    expect(await filesIn(database)).toEqual({ temporary: 0, artifacts: 0 })
    expect(await checkArtifact(database, staged.cid)).toBe('missing')
  })

  it('lets many stage and publish the same artifact at once', async () => {
    const database = await makeStore()
    const file = await fileOf(bytesOf(3 * mib))
    const cids = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const staged = await stageArtifact(database.directory, file)
        await staged.publish()
        return staged.cid
      }),
    )
    expect(new Set(cids).size).toBe(1)
    expect(await filesIn(database)).toEqual({ temporary: 0, artifacts: 1 })
    expect(await checkArtifact(database, cids[0]!)).toBe('ok')
  })

  it('makes the folder for temporary files where it got lost', async () => {
    const database = await makeStore()
    await rm(join(database.directory, 'tmp'), { recursive: true })
    await rm(join(database.directory, 'artifacts'), { recursive: true })
    const staged = await putLarge(database, bytesOf(2 * mib))
    expect(await checkArtifact(database, staged.cid)).toBe('ok')
  })

  it('refuses what is no regular file', async () => {
    const database = await makeStore()
    const folder = await makeTempFolder()
    execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', join(folder, 'pipe')])
    for (const path of [folder, join(folder, 'pipe'), join(folder, 'absent'), '/dev/null']) {
      await expect(stageArtifact(database.directory, path)).rejects.toMatchObject({
        code: 'HSTORE_BLOCK_INVALID',
        details: { path },
      })
    }
  })

  it('refuses a file that changes while it is read', async () => {
    const database = await makeStore()
    // A file that says it is empty and is not.
    await expect(stageArtifact(database.directory, '/proc/self/status')).rejects.toMatchObject({
      code: 'HSTORE_BLOCK_INVALID',
    })
    const path = await fileOf(bytesOf(40 * mib))
    const results: unknown[] = []
    const staging = stageArtifact(database.directory, path).then(
      () => results.push('staged'),
      (error: unknown) => results.push(error),
    )
    while (results.length === 0) await appendFile(path, 'more')
    await staging
    expect(results).toMatchObject([{ code: 'HSTORE_BLOCK_INVALID', details: { path } }])
    expect(await filesIn(database)).toEqual({ temporary: 0, artifacts: 0 })
  })

  it('says when the store can not take it', async () => {
    const database = await makeStore()
    await rm(join(database.directory, 'tmp'), { recursive: true })
    await writeFile(join(database.directory, 'tmp'), 'a file')
    await expect(stageArtifact(database.directory, bytesOf(2 * mib))).rejects.toMatchObject({
      code: 'HSTORE_STORE_DAMAGED',
    })
  })

  it('takes flat memory however large the file is', async () => {
    const database = await makeStore()
    const path = join(await makeTempFolder(), 'large')
    const handle = await open(path, 'w')
    for (let i = 0; i < 8; i++) await handle.write(bytesOf(32 * mib))
    await handle.close()
    const before = process.memoryUsage()
    let peakBytes = 0
    const watch = setInterval(() => {
      const { arrayBuffers } = process.memoryUsage()
      peakBytes = Math.max(peakBytes, arrayBuffers - before.arrayBuffers)
    }, 1)
    onTestFinished(() => clearInterval(watch))
    const staged = await stageArtifact(database.directory, path)
    await staged.publish()
    expect(staged.sizeBytes).toBe(256 * mib)
    expect(await checkArtifact(database, staged.cid)).toBe('ok')
    expect(peakBytes).toBeLessThan(16 * mib)
  })
})

describe('reading artifacts', () => {
  it('gives small ones and large ones', async () => {
    const database = await makeStore()
    for (const sizeBytes of [0, 5, mib, mib + 1, 3 * mib]) {
      const bytes = bytesOf(sizeBytes)
      const { cid } = await put(database, bytes)
      expect(equalBytes(await collect(readArtifact(database, cid)), bytes)).toBe(true)
      expect(await sizeOfArtifact(database, cid)).toBe(sizeBytes)
      expect(await checkArtifact(database, cid)).toBe('ok')
    }
  })

  it('says what is not there', async () => {
    const database = await makeStore()
    expect(await checkArtifact(database, absent)).toBe('missing')
    expect(await sizeOfArtifact(database, absent)).toBeUndefined()
    await expect(collect(readArtifact(database, absent))).rejects.toMatchObject({
      code: 'HSTORE_BLOCK_NOT_FOUND',
      details: { cid: absent },
    })
  })

  it.each([
    ['one bit', (bytes: Uint8Array) => bytes.with(mib, bytes[mib]! ^ 1)],
    ['zeros', (bytes: Uint8Array) => new Uint8Array(bytes.length)],
    ['nothing', () => new Uint8Array()],
    ['its last byte missing', (bytes: Uint8Array) => bytes.subarray(0, -1)],
    ['one byte more', (bytes: Uint8Array) => new Uint8Array([...bytes, 0])],
  ])('finds a large one that became %s, and heals it by a new put', async (_, damage) => {
    const database = await makeStore()
    const bytes = bytesOf(2 * mib)
    const { cid } = await putLarge(database, bytes)
    const path = artifactPath(database.directory, cid)
    await chmod(path, 0o600)
    await writeFile(path, damage(bytes))
    expect(await checkArtifact(database, cid)).toBe('corrupt')
    await expect(collect(readArtifact(database, cid))).rejects.toMatchObject({
      code: 'HSTORE_BLOCK_CORRUPT',
      details: { cid },
    })
    await putLarge(database, bytes)
    expect(await checkArtifact(database, cid)).toBe('ok')
  })
})

describe('upkeep of artifact files', () => {
  it('lists large artifacts, and files that are none', async () => {
    const database = await makeStore()
    const { directory } = database
    const large = [
      await putLarge(database, bytesOf(2 * mib)),
      await putLarge(database, bytesOf(3 * mib)),
    ]
    const misplaced = join(directory, 'artifacts', 'zz', large[0]!.cid)
    const stray = join(directory, 'artifacts', 'zz', 'notes.txt')
    await mkdir(dirname(stray))
    await writeFile(stray, 'stray')
    await writeFile(misplaced, '')
    await mkdir(join(directory, 'artifacts', 'zz', 'folder'))
    const files = []
    for await (const file of listArtifactFiles(directory)) files.push(file)
    const expected = [
      ...large.map(({ cid, sizeBytes }) => [artifactPath(directory, cid), cid, sizeBytes]),
      [misplaced, undefined, 0],
      [stray, undefined, 5],
    ]
    const found = files.map(({ path, cid, sizeBytes }) => [path, cid, sizeBytes])
    expect(found).toHaveLength(4)
    expect(found).toEqual(expect.arrayContaining(expected))
  })
})

async function makeStore(): Promise<Database> {
  const directory = await makeTempFolder()
  const database = await openDatabase(directory, { waitMs: 0, create: true })
  onTestFinished(() => database.close())
  return database
}

async function put(database: Database, bytes: Uint8Array): Promise<StagedArtifact> {
  const staged = await stageArtifact(database.directory, bytes)
  await staged.publish()
  const { cid } = staged
  const blocks = staged.bytes === undefined ? [] : [{ cid, bytes: staged.bytes }]
  await database.commit({ blocks, rows: [] })
  return staged
}

async function putLarge(database: Database, bytes: Uint8Array): Promise<StagedArtifact> {
  const staged = await stageArtifact(database.directory, bytes)
  expect(staged.bytes).toBeUndefined()
  await staged.publish()
  return staged
}

/** Bytes that differ by size. */
function bytesOf(sizeBytes: number): Uint8Array {
  const bytes = new Uint8Array(sizeBytes)
  for (let i = 0; i < sizeBytes; i += 61) bytes[i] = (i ^ sizeBytes) & 255
  return bytes
}

async function fileOf(bytes: Uint8Array): Promise<string> {
  const path = join(await makeTempFolder(), 'file')
  await writeFile(path, bytes)
  return path
}

async function filesIn({ directory }: Database): Promise<{ temporary: number; artifacts: number }> {
  let artifacts = 0
  for await (const { cid } of listArtifactFiles(directory)) if (cid !== undefined) artifacts++
  return { temporary: (await readdir(join(directory, 'tmp'))).length, artifacts }
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) {
    expect(chunk.constructor).toBe(Uint8Array)
    expect(chunk.length).toBeLessThanOrEqual(mib)
    parts.push(chunk)
  }
  return new Uint8Array(Buffer.concat(parts))
}
