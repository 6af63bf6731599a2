import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { joinSegments, readRelay } from '../../../src/contracts/turns/markdown.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'
import { makeRelayStore } from './relay-store.ts'
import type { ExpectedContract } from './run-case.ts'
import { readCaseFile, readExpected, runTurn, sha256, turnsOf, verdictOf } from './run-case.ts'
import type { TurnReport } from '../../../src/contracts/turns/validate.ts'

/** Runs one case of a relay: its turns, the verdict on its contracts in each mode, and `peek` for each agent. */
export function describeTurnCase(folder: string): void {
  const expected = readExpected(folder)
  const living = readCaseFile(folder, 'M8SHIFT.md')!
  const archive = readCaseFile(folder, 'M8SHIFT.archive.md')

  describe(`turns/${path.basename(folder)}`, () => {
    it('has the bytes that were judged', () => {
      expect(sha256(living)).toBe(expected.sha256['M8SHIFT.md'])
      if (archive !== undefined) {
        expect(sha256(archive)).toBe(expected.sha256['M8SHIFT.archive.md'])
      }
    })

    it('gives the turns, and the file back', () => {
      for (const [bytes, turns] of [
        [living, expected.turns],
        [archive, expected.archive_turns],
      ] as const) {
        if (bytes === undefined) continue
        expect(turnsOf(bytes)).toEqual(turns)
        expect(keysOf(turnsOf(bytes))).toEqual(keysOf(turns!))
        expect(sha256(joinSegments(readRelay(bytes).segments))).toBe(sha256(bytes))
      }
    })

    it('comes back out of a store, and goes in once', async () => {
      await using store = await makeRelayStore(await makeTempFolder())
      const files = {
        living: { bytes: living, name: 'M8SHIFT.md' },
        archive: archive && { bytes: archive, name: 'M8SHIFT.archive.md' },
      }
      const report = await store.turns.import('relay', files)
      const turns = (expected.turns?.length ?? 0) + (expected.archive_turns?.length ?? 0)
      if (expected.turns !== null) expect(report).toMatchObject({ turns, added: turns, new: true })
      const given = await store.turns.export('relay')
      expect(sha256(given.living)).toBe(sha256(living))
      expect(given.archive && sha256(given.archive)).toBe(archive && sha256(archive))
      const again = await store.turns.import('relay', files)
      expect(again).toMatchObject({ cid: report.cid, head: report.head, added: 0, new: false })
      const codes = (await store.verify()).findings.map(({ code }) => code)
      expect(codes.filter((code) => !code.startsWith('HS43'))).toEqual(
        Array.from({ length: report.witnessed }, () => 'HS3015'),
      )
    })

    it('gives the verdict', () => expectContract(expected.contract, ['--all']))

    const { contract_living_only: alone } = expected
    if (alone !== undefined)
      it('gives the verdict on the relay alone', () => expectContract(alone, []))

    it.each(Object.entries(expected.peek))('shows what waits for %s', async (agent, wanted) => {
      const ran = await runTurn(folder, 'peek', agent)
      expect({ exit: ran.exit, stdout: ran.out }).toEqual({
        exit: wanted.exit,
        stdout: wanted.stdout,
      })
    })
  })

  async function expectContract(contract: ExpectedContract, argv: string[]): Promise<void> {
    for (const [mode, flags] of [
      ['default', []],
      ['strict', ['--strict']],
    ] as const) {
      const ran = await runTurn(folder, 'validate', ...argv, ...flags, '--json')
      expect(ran.exit).toBe(contract[`exit_${mode}`])
      const wanted = contract[mode]
      if (wanted === null) expect(ran.out).toBe('')
      else expect(verdictOf(JSON.parse(ran.out) as TurnReport)).toEqual(verdictOf(wanted))
    }
  }
}

/** Objects with the same keys in another order are equal to a test. */
function keysOf(turns: readonly { readonly fields: object }[] | null): string[][] | null {
  return turns?.map(({ fields }) => Object.keys(fields)) ?? null
}
