import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { CidText } from '../../store/cid-text.ts'
import { envelopeOf } from '../support/envelope.ts'
import { forge } from '../support/forge.ts'
import type { TestStore } from '../support/store.ts'
import { agents, json, makeSharedFolder, makeTestStore, ok } from '../support/store.ts'

const shared = await makeSharedFolder()
let store: TestStore

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'store'))
})

describe('names that a document may have', () => {
  const revisions: readonly (readonly [what: string, revision: string])[] = [
    ['nothing', ''],
    ['a NUL', 'a\u0000b'],
    ['a line break', 'R1\nhstore: verified'],
    ['terminal codes', 'R\u001b[31mred\u001b[0m\u0007'],
    ['text turned round', 'R\u202egnp.exe'],
    ['a CID', `baguqeera${'a'.repeat(52)}`],
    ['another stream', 'roster'],
    ['a prototype', '__proto__'],
    ['a constructor', 'constructor'],
    ['300 bytes', 'é'.repeat(150)],
    ['64 KiB less the rest', 'x'.repeat(60_000)],
    ['white space', '  '],
    ['two spellings of one letter', 'e\u0301'],
    ['the other spelling', '\u00e9'],
  ]
  for (const [what, revision] of revisions) {
    it(`do not confuse put, resume, heads and log: ${what}`, async () => {
      const base = {
        workspace: `names:${revisions.findIndex(([, name]) => name === revision)}`,
        author: agents.merger,
      }
      const document = {
        ...envelopeOf({ ...base, revision: 'x' }),
        revision,
        current_heads: [revision],
      }
      const put = await ok(store.runWith({ stdin: JSON.stringify(document) }, 'put', '-', '--json'))
      const { cid } = json<{ cid: string }>(put)
      const again = await store.runWith({ stdin: JSON.stringify(document) }, 'put', '-', '--json')
      expect(json(again)).toMatchObject({ cid, new: false })
      expect(json(await store.run('resume', cid, '--json'))).toMatchObject({
        verdict: 'complete',
        revision,
      })
      const child = envelopeOf({ ...base, revision: 'child' })
      const followed = { ...child, parents: [revision] }
      const next = await ok(
        store.runWith({ stdin: JSON.stringify(followed) }, 'put', '-', '--json'),
      )
      expect(json(next)).toMatchObject({ parents: [cid] })
      for (const argv of [['log', base.workspace], ['heads'], ['show', cid], ['resume', cid]]) {
        const { out, err, exit } = await store.run(...argv)
        expect({ argv, exit }).toEqual({ argv, exit: 0 })
        expect(`${out}${err}`.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
        expect(`${out}${err}`).not.toMatch(/^hstore: verified/m)
      }
    })
  }

  it('are all sound together', async () => {
    expect((await store.run('verify', '--all')).exit).toBe(0)
  })
})

describe('an entry whose body is another entry', () => {
  it('does not stand in its way', async () => {
    const own = envelopeOf({ workspace: 'shadow', revision: 'R1', author: agents.merger })
    const put = await ok(store.runWith({ stdin: JSON.stringify(own) }, 'put', '-', '--json'))
    const { cid } = json<{ cid: string }>(put)
    const other = envelopeOf({ workspace: 'shadow', revision: 'R2', author: agents.a })
    await forge(store, agents.a, other, { body: cid as CidText })
    const got = await ok(store.run('get', cid))
    expect(JSON.parse(got.out)).toMatchObject({ revision: own['revision'] })
    expect(json(await store.run('show', cid, '--json'))).toMatchObject({ cid })
  })
})
