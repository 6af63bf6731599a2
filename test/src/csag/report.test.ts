import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { formatReport, makeReport, reportLines } from '../../../src/contracts/csag/report.ts'
import type { HandoffReport } from '../../../src/contracts/csag/report.ts'
import { copyBundle } from './bundle-copy.ts'
import { judgeFile, reportFile } from './judge-file.ts'

function readReport(file: string): HandoffReport {
  return JSON.parse(fs.readFileSync(file, 'utf8')) as HandoffReport
}

describe('the report of an envelope file', () => {
  it('has the members of upstream in their order, then ours', async () => {
    using copy = copyBundle()
    const file = path.join(copy.directory, 'out/deep/report.json')
    await reportFile(file, await judgeFile(copy.envelope))
    const report = readReport(file)
    expect(Object.keys(report)).toEqual(
      'ok profile validator_version envelope_json inputs errors metrics findings advisories'.split(
        ' ',
      ),
    )
    expect(report).toMatchObject({
      ok: true,
      profile: 'handoff',
      validator_version: 'csag-handoff/1',
      envelope_json: '../../handoff.json',
      errors: [],
    })
    expect(Object.entries(report.metrics)).toEqual([
      ['source_artifacts', 5],
      ['assessments', 2],
      ['actions', 4],
      ['executions', 3],
      ['conflicts', 1],
      ['current_heads', 1],
    ])
    expect(Object.keys(report.inputs)).toEqual([
      'envelope_json',
      ...[1, 2, 3, 4, 5, 6, 7].map((n) => `artifact_00${n}`),
    ])
    expect(report.inputs['artifact_002']).toEqual({
      path: '../../data/table.csv',
      sha256: '98a238fd938d858fd3fe994208773b3db190b496da035381447fcffdfac65db2',
      size_bytes: 24,
    })
  })

  it('is indented by two spaces, in ASCII, with a line feed at the end', async () => {
    using copy = copyBundle()
    const document = JSON.parse(fs.readFileSync(copy.envelope, 'utf8')) as Record<string, unknown>
    document['é\u007f😀\n'] = 1
    fs.writeFileSync(copy.envelope, JSON.stringify(document))
    const { judgement, envelope } = await judgeFile(copy.envelope)
    const text = formatReport(makeReport(judgement, copy.directory, envelope))
    expect(text.startsWith('{\n  "ok": false,\n  "profile": "handoff",\n')).toBe(true)
    expect(text.endsWith('}\n')).toBe(true)
    expect(text).toMatch(/^[\n -~]*$/)
    expect(text).toContain('\\u00e9')
    expect(text).toContain('"inputs": {\n    "envelope_json": {\n')
    expect(reportLines(judgement)).toHaveLength(1)
    expect(reportLines(judgement)[0]).toMatch(/^handoff: [^\n\u007f]*$/)
  })

  it('names the findings one by one', async () => {
    using copy = copyBundle()
    fs.rmSync(path.join(copy.directory, 'data/table.csv'))
    const { judgement, envelope } = await judgeFile(copy.envelope)
    const report = makeReport(judgement, copy.directory, envelope)
    expect(report.errors).toEqual(reportLines(judgement))
    expect(report.findings).toHaveLength(2)
    expect(report.findings[0]).toEqual({
      code: 'CSAG-H-011',
      severity: 'error',
      message: '"data/table.csv": there is no regular file',
      path: 'handoff.source_artifacts[3].artifact_path',
      pointer: '/source_artifacts/3/artifact_path',
    })
    expect(report.errors[0]).toBe(
      'handoff.source_artifacts[3].artifact_path: "data/table.csv": there is no regular file',
    )
  })

  it('says ok in one word', async () => {
    using copy = copyBundle()
    const { judgement } = await judgeFile(copy.envelope)
    expect(reportLines(judgement)).toEqual(['ok'])
  })

  it('has no envelope where there is no regular file', async () => {
    using copy = copyBundle()
    fs.rmSync(copy.envelope)
    fs.mkdirSync(copy.envelope)
    const file = path.join(copy.directory, 'report.json')
    await reportFile(file, await judgeFile(copy.envelope))
    expect(readReport(file)).toMatchObject({
      ok: false,
      envelope_json: null,
      inputs: {},
      metrics: { source_artifacts: 0 },
    })
    expect(readReport(file).findings[0]).toMatchObject({ code: 'CSAG-L-001', path: 'handoff' })
  })

  it('counts lists of a faulty envelope and records only the envelope', async () => {
    using copy = copyBundle()
    fs.writeFileSync(
      copy.envelope,
      '{"source_artifacts": [1, 2], "actions": null, "executions": 3}',
    )
    const { judgement, envelope } = await judgeFile(copy.envelope)
    const report = makeReport(judgement, copy.directory, envelope)
    expect(report.metrics).toMatchObject({ source_artifacts: 2, actions: 0, executions: 0 })
    expect(Object.keys(report.inputs)).toEqual(['envelope_json'])
  })
})

describe('D-12, a report at the place of a file that it is about', () => {
  const names = ['handoff.json', 'paper.json', 'env/lock.txt', 'reports/paper.validation.json']

  it.each(names)('is refused for %s', async (name) => {
    using copy = copyBundle()
    const file = path.join(copy.directory, name)
    const before = fs.readFileSync(file)
    const judged = await judgeFile(copy.envelope)
    await expect(reportFile(file, judged)).rejects.toMatchObject({ code: 'HSTORE_USAGE' })
    expect(fs.readFileSync(file).equals(before)).toBe(true)
  })

  it('is refused for a second name of an artifact, by link or not', async () => {
    using copy = copyBundle()
    const judged = await judgeFile(copy.envelope)
    fs.linkSync(path.join(copy.directory, 'notes.md'), path.join(copy.directory, 'same.md'))
    fs.symlinkSync('notes.md', path.join(copy.directory, 'link.md'))
    for (const name of ['same.md', 'link.md']) {
      const file = path.join(copy.directory, name)
      await expect(reportFile(file, judged)).rejects.toMatchObject({ code: 'HSTORE_USAGE' })
    }
  })

  it('is refused when the envelope is no valid one, and when the digest differs', async () => {
    using copy = copyBundle()
    const text = fs.readFileSync(copy.envelope, 'utf8')
    const file = path.join(copy.directory, 'data/table.csv')
    fs.writeFileSync(file, 'changed')
    for (const content of [text, text.replace('"id"', '"idea"'), text.replace('"1.0.0"', '1')]) {
      fs.writeFileSync(copy.envelope, content)
      const judged = await judgeFile(copy.envelope)
      expect(judged.judgement.ok).toBe(false)
      await expect(reportFile(file, judged)).rejects.toMatchObject({ code: 'HSTORE_USAGE' })
    }
  })

  it('is free elsewhere, and a report may be written again', async () => {
    using copy = copyBundle()
    const file = path.join(copy.directory, 'report.json')
    const judged = await judgeFile(copy.envelope)
    await reportFile(file, judged)
    await reportFile(file, judged)
    expect(readReport(file).ok).toBe(true)
    expect(fs.readdirSync(copy.directory).filter((name) => name.includes('tmp'))).toEqual([])
  })

  it('that can not be written is refused with a code', async () => {
    using copy = copyBundle()
    const judged = await judgeFile(copy.envelope)
    const file = path.join(copy.directory, 'notes.md/report.json')
    await expect(reportFile(file, judged)).rejects.toMatchObject({
      code: 'HSTORE_OUTPUT_UNWRITABLE',
    })
  })
})
