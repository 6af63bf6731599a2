import { describe, expect, it } from 'vitest'
import { envelopeOf } from './envelope.ts'
import { forge, signerOf } from './forge.ts'
import type { Given } from './given-cases.ts'
import { valueIn } from './given-cases.ts'
import type { TestStore } from './store.ts'
import { agents, json, makeTestStore, ok } from './store.ts'
import { makeTempFolder } from './temp-folder.ts'

interface GrantRow {
  readonly grant: { readonly kinds: string[]; readonly streams: string[]; readonly until?: string }
  readonly entry: { readonly kind: string; readonly stream: string; readonly seq?: number }
  readonly ok: boolean
}

const bot = 'bot:granted'

/** The cases of rosters: r30 and r43. */
export function describeTrustCases(given: Given): void {
  describe('r30: a right key under another name', () => {
    it('is told as whose key it is, and as whom it speaks', async () => {
      const store = await makeTestStore(await makeTempFolder())
      const signer = await signerOf(store, agents.b)
      const value = envelopeOf({ workspace: 'w', revision: 'R1', author: agents.a })
      const { cid } = await forge(store, agents.a, value, { signer: signer.did }, signer)
      const checked = await store.run('roster', 'check', cid)
      expect(checked.exit).toBe(5)
      expect(checked.out).toContain(
        `its signer is ${agents.b}, which may not speak for ${agents.a}`,
      )
      expect((await store.run('resume', cid)).exit).toBe(5)
    })
  })

  describe('r43: what a grant does not cover', () => {
    const rows = valueIn<GrantRow[]>(given, 'r43-outlives-its-proof', 'grants.json')
    it.each(rows.map((row, i) => [i, row] as const))(
      'is as the case says (row %i)',
      async (_i, row) => {
        const store = await makeTestStore(await makeTempFolder())
        await ok(store.run('key', 'new', bot, '--no-passphrase'))
        const { did } = await signerOf(store, bot)
        const grants = row.grant.streams.map((stream) => `${row.grant.kinds.join()}:${stream}`)
        await ok(store.run('roster', 'add', bot, did, '--grant', ...grants))
        const cids = await chainOf(
          store,
          row.entry.kind,
          row.entry.stream,
          Math.max(6, row.entry.seq ?? 1),
        )
        const until = row.grant.until
        if (until !== undefined) {
          const pin = until === 'cut without pins' ? 'none' : cids[4]!
          await ok(store.run('roster', 'revoke', bot, did, '--at', pin, '--yes'))
        }
        const cid = cids[(row.entry.seq ?? 1) - 1]!
        const { standing } = json<{ standing: string }>(
          await store.run('roster', 'check', cid, '--json'),
        )
        expect(standing).toBe(row.ok ? 'valid' : 'rejected')
        const verified = await store.run('verify', cid, '--json')
        expect(verified.out.includes('HS2003')).toBe(!row.ok)
      },
    )
  })
}

/** A chain of entries, past all that `put` would refuse. */
async function chainOf(
  store: TestStore,
  kind: string,
  stream: string,
  length: number,
): Promise<readonly string[]> {
  const cids: string[] = []
  for (let seq = 1; seq <= length; seq++) {
    const value =
      kind === 'envelope'
        ? envelopeOf({ workspace: stream.slice(5), revision: `R${seq}`, author: bot })
        : turnBody(seq)
    const name = kind === 'envelope' ? (value as { revision: string }).revision : undefined
    const prev = cids.slice(-1) as never[]
    cids.push((await forge(store, bot, value, { kind, stream, name, prev, seq })).cid)
  }
  return cids
}

function turnBody(number: number): object {
  const text = `<!-- M8SHIFT:TURN ${number} ${bot} BEGIN -->\n- from: ${bot}\n<!-- M8SHIFT:TURN ${number} ${bot} END -->`
  return { agent: bot, folded: '0'.repeat(64), number: String(number), text }
}
