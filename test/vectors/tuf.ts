import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkProof } from '../../src/proof/report.ts'
import { decodeEntry } from '../../src/entry/decode.ts'
import { findRoster } from '../../src/trust/read-roster.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import type { JsonForm } from '../../store/canonical.ts'

/** Signed metadata of others: no entry, no roster and no proof, however well it is signed. */
export function describeTuf(folder: string): void {
  const root = path.join(folder, 'tuf-intoto')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.json'),
  )
  describe('tuf-intoto', () => {
    it.each(files)('%s is refused', (name) => {
      const bytes = new Uint8Array(readFileSync(path.join(root, name)))
      const value = JSON.parse(Buffer.from(bytes).toString()) as { [key: string]: JsonForm }
      const dense = new Uint8Array(Buffer.from(JSON.stringify(value)))
      for (const one of [bytes, dense]) {
        expect(() => decodeEntry(cidTextOf(one, 'dag-json'), one)).toThrow()
        expect(() => checkProof(one)).toThrow()
      }
      expect(findRoster(value)).toBeUndefined()
      const { signed } = value
      if (typeof signed === 'object') expect(findRoster(signed as never)).toBeUndefined()
    })
  })
}
