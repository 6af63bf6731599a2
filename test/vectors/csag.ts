import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCase } from '../src/csag/run-case.ts'
import type { CasesFile } from '../src/csag/run-case.ts'

/** Runs the handed cases of the handoff profile: verdict, ordered findings and verified files of each. */
export function describeCsag(folder: string): void {
  const home = path.join(folder, 'csag')
  for (const name of fs.readdirSync(home).filter((name) => /cases.*\.json$/.test(name))) {
    const file = JSON.parse(fs.readFileSync(path.join(home, name), 'utf8')) as CasesFile
    describe(`csag/${name}`, () => {
      it.each(file.cases.map((one) => [one.name, one] as const))('%s', async (_, one) => {
        const { verdict } = await runCase(home, file, one)
        expect(verdict).toMatchObject(one.hstore ?? one.expected)
      })
    })
  }
}
