import path from 'node:path'
import { expect, it } from 'vitest'
import { watchHeads } from '../../../src/watch.ts'
import { writeEnvelope } from '../../support/envelope.ts'
import { agents, makeTestStore, ok } from '../../support/store.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'

it('watchHeads yields each head that others put, once, and ends when it is told to', async () => {
  const store = await makeTestStore(await makeTempFolder())
  const put = async (workspace: string, revision: string, parents: readonly string[]) => {
    const small = { workspace, revision, parents, author: agents.merger }
    return (
      await ok(store.run('put', await writeEnvelope(path.join(store.root, 'w'), small)))
    ).out.trim()
  }
  await put('csag:handoff/w', 'R1', [])
  const abort = new AbortController()
  const seen: string[] = []
  const watching = (async () => {
    const options = { store: store.store, keys: store.keys, stream: 'csag:csag:handoff/w' }
    for await (const { entry } of watchHeads({
      ...options,
      intervalMs: 20,
      signal: abort.signal,
    })) {
      seen.push(entry.cid)
      if (seen.length === 2) abort.abort()
    }
  })()
  await new Promise((resolve) => setTimeout(resolve, 500))
  const second = await put('csag:handoff/w', 'R2', ['R1'])
  await put('csag:handoff/other', 'R1', [])
  while (seen.length < 1) await new Promise((resolve) => setTimeout(resolve, 20))
  const third = await put('csag:handoff/w', 'R3', ['R2'])
  await watching
  expect(seen).toEqual([second, third])
})
