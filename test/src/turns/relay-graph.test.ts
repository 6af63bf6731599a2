import { cp, readdir, readFile } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { turnRules } from '../../../src/rules/turn-rules.ts'
import { historyBundle } from '../../support/history.ts'
import { json, makeTestStore, ok, putHistory } from '../../support/store.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'
import { exportText, importText, makeRelayStore } from './relay-store.ts'
import { appended, archiveRun, draftBy, freshRelay } from './relays.ts'

const home = fileURLToPath(new URL('../../../fixtures/relay-graph', import.meta.url))
const cases = readdirSync(home, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

const expectedOf = async (name: string): Promise<readonly string[]> =>
  (
    JSON.parse(await readFile(`${home}/${name}/expected.json`, 'utf8')) as {
      advisories: readonly string[]
    }
  ).advisories

describe('the rules over a relay’s graph', () => {
  it.each(cases)('%s', async (name) => {
    await using store = await makeRelayStore(await makeTempFolder())
    const relay = await readFile(`${home}/${name}/M8SHIFT.md`, 'utf8')
    await importText(store, 'demo', { relay, archive: '' })
    const wanted = await expectedOf(name)
    const report = await store.turns.validate('demo')
    expect(report.advisories.map(({ code }) => code)).toEqual(wanted)
    const { findings } = await store.verify()
    const ofTurns = findings.filter(({ code }) => code.startsWith('HS43'))
    expect(ofTurns).toEqual(report.advisories)
    const ofHead = (await store.verify(['m8:demo'])).findings
    expect(ofHead.filter(({ code }) => code.startsWith('HS43'))).toHaveLength(wanted.length)
  })

  it('have a case each', async () => {
    const tripped = new Set((await Promise.all(cases.map(expectedOf))).flat())
    const codes = turnRules.map(({ code }) => code).filter((code) => code >= 'HS4315')
    expect([...tripped].sort()).toEqual(codes.filter((code) => code.startsWith('HS')))
    expect(await readdir(home)).toContain('README.md')
  })

  it('find what is there: blocks, small and large, and records of a workspace', async () => {
    const store = await makeTestStore(await makeTempFolder())
    const [first] = await putHistory(store)
    const { document } = json<{ document: { id: string; source_artifacts: { id: string }[] } }>(
      await ok(store.run('get', first!, '--json')),
    )
    const there = document.source_artifacts[0]!.id
    const absent = ['csag:artifact/nowhere', `${there}9`]
    const names = [first!, there, ...absent]
    const relay = appended(
      freshRelay,
      draftBy('alpha', { files: names.join(', '), fields: [`x_workspace=${document.id}`] }),
    )
    await cp(historyBundle, store.root, { recursive: true })
    await ok(store.runWith({ stdin: relay }, 'turn', 'import', '-', '--relay', 'demo'))
    const { advisories } = json<{ advisories: { code: string; message: string }[] }>(
      await ok(store.run('turn', 'validate', '--relay', 'demo', '--json')),
    )
    expect(advisories.map(({ code }) => code)).toEqual(absent.map(() => 'HS4317'))
    for (const [i, name] of absent.entries()) expect(advisories[i]!.message).toContain(name)
  })
})

describe('turn log and turn validate of a relay', () => {
  it('list turns, the last first, and judge as the files are judged', async () => {
    await using store = await makeRelayStore(await makeTempFolder())
    let relay = appended(freshRelay, draftBy('alpha', { flags: { role_to: 'x' } }))
    relay = appended(relay, draftBy('beta', { flags: { schema: 'stage5' } }))
    const files = archiveRun(relay, '', 1)
    await importText(store, 'demo', files)
    const logged = await store.turns.log('demo')
    expect(logged.map(({ number, file, witness }) => [number, file, witness])).toEqual([
      ['2', 'relay', true],
      ['0', 'relay', true],
      ['1', 'archive', false],
    ])
    expect(logged[2]).toMatchObject({ agent: 'alpha', to: 'beta', ask: 'go on', author: 'alpha' })
    const checks = async (all: boolean): Promise<string[]> =>
      (await store.turns.validate('demo', { strict: true }, all)).findings.map(({ check }) => check)
    expect(await checks(false)).toEqual(['contract.schema_unknown'])
    expect(await checks(true)).toEqual(['contract.schema_missing', 'contract.schema_unknown'])
    expect(await exportText(store, 'demo')).toEqual(files)
    await expect(store.turns.log('other')).rejects.toMatchObject({ code: 'HSTORE_REF_NOT_FOUND' })
    await expect(store.turns.validate('other')).rejects.toMatchObject({
      code: 'HSTORE_REF_NOT_FOUND',
    })
  })
})
