import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { HashedBlock } from '../../store/block.ts'
import { decodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { RowChange } from '../../store/commit.ts'
import { planRows } from '../../store/indexes.ts'
import type { Context } from '../../src/context.ts'
import { rowOf } from '../../src/entry/row.ts'
import { seal } from '../../src/entry/seal.ts'
import { getDocument } from '../../src/get.ts'
import { resolveRef } from '../../src/graph/ref.ts'
import { openBelow, signerOf } from '../support/forge.ts'
import type { TestStore } from '../support/store.ts'
import { agents, makeSharedFolder, makeTestStore, putHistory } from '../support/store.ts'

const shared = await makeSharedFolder()
const encoder = new TextEncoder()
let store: TestStore
let cids: readonly string[]

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'ground'))
  cids = await putHistory(store)
})

/** Puts an entry whose body is this text, canonical or not, with the marks that `marked` gives. */
async function putBody(
  context: Context,
  text: string,
  marked: (cid: CidText) => readonly RowChange[],
): Promise<CidText> {
  const { db, trust } = context
  const signer = await signerOf(store, agents.a)
  const body = HashedBlock.of(encoder.encode(text), 'dag-json')
  const { entry, block } = seal(
    {
      artifacts: undefined,
      author: agents.a,
      body: body.cid,
      kind: 'envelope',
      name: 'R1',
      parents: [],
      prev: [],
      refs: [],
      roster: trust.rosterBody,
      seq: 1,
      shallow: [],
      signer: signer.did,
      source: undefined,
      store: trust.genesis,
      stream: 'csag:get',
      witness: false,
    },
    signer,
  )
  const rows = planRows((index, key) => db.readRow(index, key), rowOf(entry))
  await db.commit({ blocks: [block, body], rows: [...rows, ...marked(entry.cid)] })
  return entry.cid
}

describe('getDocument', () => {
  it('gives of an entry that was made here what the whole check gives', async () => {
    await using context = await openBelow(store)
    for (const cid of cids as CidText[]) {
      expect(context.marks.isMade(cid)).toBe(true)
      const found = await getDocument(context, await resolveRef(context, cid))
      if (!('bytes' in found)) throw new Error('an entry was wanted')
      expect(found.document).toEqual(decodeForm(found.bytes).form)
    }
  })

  it.each([
    ['no mark', () => []],
    ['a mark of its signature alone', signatureMark],
    ['a made mark that is not ours', foreignMark],
  ] as const)('refuses a body outside the profile under %s', async (what, rowsFor) => {
    await using context = await openBelow(store)
    const text = `{"b":${JSON.stringify(what)},"a":1}`
    const cid = await putBody(context, text, (entry) => rowsFor(context, entry))
    await expect(getDocument(context, await resolveRef(context, cid))).rejects.toThrow(
      expect.objectContaining({ code: 'HSTORE_BLOCK_INVALID' }),
    )
  })
})

function signatureMark({ marks }: Context, cid: CidText): readonly RowChange[] {
  return [{ index: 'marks', key: cid, values: marks.rowWith(cid, ['signature']) }]
}

/** What another entry's mark says is not said of this one. */
function foreignMark({ marks }: Context, cid: CidText): readonly RowChange[] {
  return [{ ...marks.madeRow(cids[0] as CidText), key: cid }]
}
