import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDirectoryBundle } from '../../../src/contracts/csag/directory-bundle.ts'
import { validateHandoff, validateHandoffDocument } from '../../../src/contracts/csag/handoff.ts'
import { makeVirtualBundle } from '../../../src/contracts/csag/virtual-bundle.ts'
import type { StoredFile } from '../../../src/contracts/csag/virtual-bundle.ts'
import { copyBundle, readBundleFile, readEnvelope } from './bundle-copy.ts'
import { judgeFile } from './judge-file.ts'

const names = [
  'article.json',
  'data/table.csv',
  'env/lock.txt',
  'notes.md',
  'paper.json',
  'reports/paper.quality.json',
  'reports/paper.validation.json',
]

function storedFile(bytes: Uint8Array): StoredFile {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { sha256, sizeBytes: bytes.length, read: () => Promise.resolve(bytes) }
}

describe('a bundle in a directory', () => {
  it('gives each local file with the path where it is declared', async () => {
    using copy = copyBundle()
    const { judgement } = await judgeFile(copy.envelope)
    expect(judgement.ok).toBe(true)
    expect(judgement.localFiles.map((file) => file.path).toSorted()).toEqual(names)
    for (const file of judgement.localFiles) {
      const bytes = readBundleFile(file.path)
      expect(file).toEqual({
        path: file.path,
        key: path.join(copy.directory, file.path),
        sha256: createHash('sha256').update(bytes).digest('hex'),
        sizeBytes: bytes.length,
        role: file.path === 'env/lock.txt' ? 'lockfile' : 'artifact',
      })
    }
  })

  it('gives inputs of reports that no record declares, and no stale ones', async () => {
    using copy = copyBundle()
    const envelope = JSON.parse(fs.readFileSync(copy.envelope, 'utf8')) as {
      source_artifacts: unknown[]
      executions: { inputs: unknown[] }[]
    }
    envelope.source_artifacts.splice(1, 1)
    envelope.executions[0]?.inputs.splice(1, 1)
    fs.writeFileSync(copy.envelope, JSON.stringify(envelope))
    const { judgement } = await judgeFile(copy.envelope)
    expect(judgement.ok).toBe(true)
    const notes = judgement.localFiles.find((file) => file.path === 'notes.md')
    expect(notes?.role).toBe('report-input')
    expect(judgement.inputs.map((file) => path.basename(file.key))).not.toContain('notes.md')
    fs.writeFileSync(path.join(copy.directory, 'notes.md'), 'changed')
    const stale = await judgeFile(copy.envelope)
    expect(stale.judgement.localFiles.map((file) => file.path)).not.toContain('notes.md')
  })

  it('finds a way back from what is missing or no directory, and nothing below it', async () => {
    using copy = copyBundle()
    const bundle = await openDirectoryBundle(copy.directory)
    const kindAt = async (way: string): Promise<string> =>
      (await bundle.locate(way.split('/'))).kind
    fs.symlinkSync('gone/../notes.md', path.join(copy.directory, 'over'))
    for (const way of ['gone/../notes.md', 'gone/a/b/../../../notes.md', 'notes.md/x/../../over']) {
      expect([way, await kindAt(way)]).toEqual([way, 'file'])
    }
    for (const way of ['gone/notes.md', 'gone/a/../notes.md', 'notes.md/x', 'over/x']) {
      expect([way, await kindAt(way)]).toEqual([way, 'missing'])
    }
  })

  it('must be a directory', async () => {
    using copy = copyBundle()
    for (const name of ['gone', 'notes.md']) {
      const folder = path.join(copy.directory, name)
      await expect(openDirectoryBundle(folder)).rejects.toMatchObject({
        code: 'HSTORE_INPUT_UNREADABLE',
      })
    }
  })

  it('is where the envelope really is', async () => {
    using copy = copyBundle()
    const link = path.join(copy.directory, '..', 'link.json')
    fs.symlinkSync('bundle/handoff.json', link)
    expect((await judgeFile(link)).judgement.ok).toBe(true)
  })

  it('never waits for a pipe', async () => {
    using copy = copyBundle()
    const pipe = path.join(copy.directory, 'data/table.csv')
    fs.rmSync(pipe)
    const makePipe = 'mkfifo'
    execFileSync(makePipe, [pipe])
    const { judgement } = await judgeFile(copy.envelope)
    expect(judgement.findings.map((finding) => finding.code)).toEqual(['CSAG-H-011', 'CSAG-H-011'])
  })

  it('takes an absolute input of a report for missing, wherever it leads', async () => {
    using copy = copyBundle()
    const bundle = await openDirectoryBundle(copy.directory)
    const answer = await bundle.locate(['reports', 'paper.validation.json'])
    if (answer.kind !== 'file') throw new Error('wanted the report')
    const beside = async (input: string): Promise<string> =>
      (await bundle.locateBeside(answer.file, input)).kind
    expect(await beside('../notes.md')).toBe('file')
    expect(await beside('./paper.quality.json/')).toBe('file')
    expect(await beside(path.join(copy.directory, 'notes.md'))).toBe('missing')
    expect(await beside('../../bundle/notes.md')).toBe('missing')
    expect(await beside('gone/../../notes.md')).toBe('missing')
    expect(await beside('')).toBe('missing')
    expect(await beside('\udc80')).toBe('missing')
  })

  it('hashes a file of many pieces as a whole', async () => {
    using copy = copyBundle()
    const bytes = new Uint8Array(3 * 256 * 1024 + 7).fill(7)
    bytes.fill(9, 300_000)
    fs.writeFileSync(path.join(copy.directory, 'large.bin'), bytes)
    const bundle = await openDirectoryBundle(copy.directory)
    const answer = await bundle.locate(['large.bin'])
    expect(answer).toMatchObject({ kind: 'file', file: { sizeBytes: bytes.length } })
    if (answer.kind !== 'file') return
    expect(answer.file.sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
    expect(await bundle.read(answer.file, bytes.length - 1)).toBeUndefined()
    expect(await bundle.read(answer.file, bytes.length)).toEqual(bytes)
    fs.writeFileSync(path.join(copy.directory, 'large.bin'), bytes.fill(1))
    expect(await bundle.read(answer.file, bytes.length)).toBeUndefined()
  })

  it('says which files are reached over links', async () => {
    using copy = copyBundle()
    fs.renameSync(path.join(copy.directory, 'data'), path.join(copy.directory, 'real'))
    fs.symlinkSync('real', path.join(copy.directory, 'data'))
    const { judgement } = await judgeFile(copy.envelope)
    expect(judgement.ok).toBe(true)
    expect(judgement.advisories.map((finding) => finding.code)).toEqual(['HS4102'])
    const table = judgement.localFiles.find((file) => file.path === 'data/table.csv')
    expect(table?.key).toBe(path.join(copy.directory, 'real/table.csv'))
  })
})

describe('a bundle in a store', () => {
  it('gives the verdict that the directory gives', async () => {
    const files = new Map(names.map((name) => [name, storedFile(readBundleFile(name))]))
    const bytes = readBundleFile('handoff.json')
    const judgement = await validateHandoff(bytes, makeVirtualBundle(files))
    expect(judgement.ok).toBe(true)
    expect(judgement.inputs.map((file) => file.key)).toEqual(names.map((name) => `/${name}`))
  })

  it('lacks what the store lacks', async () => {
    const files = new Map(names.map((name) => [name, storedFile(readBundleFile(name))]))
    files.delete('notes.md')
    const judgement = await validateHandoffDocument(readEnvelope(), makeVirtualBundle(files))
    expect(judgement.findings.map((finding) => finding.code)).toEqual(
      'CSAG-H-011 CSAG-H-011 CSAG-H-019 CSAG-H-024'.split(' '),
    )
  })

  it('has no file below a file, and none at its own place', async () => {
    const file = storedFile(new Uint8Array(1))
    const bundle = makeVirtualBundle(
      new Map([
        ['a', file],
        ['a/b', file],
        ['', file],
      ]),
    )
    const kind = async (...segments: string[]): Promise<string> =>
      (await bundle.locate(segments)).kind
    expect(await kind('a')).toBe('file')
    expect(await kind('a', 'b')).toBe('missing')
    expect(await kind()).toBe('missing')
    expect(await kind('b', '..', 'a')).toBe('file')
    expect(await kind('b', '..', '..', 'a')).toBe('escape')
  })
})
