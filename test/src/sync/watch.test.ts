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

it('watchHeads takes a name without the family, and tells once where nothing has it yet', async () => {
  const store = await makeTestStore(await makeTempFolder())
  const absent: string[] = []
  const abort = new AbortController()
  const seen: string[] = []
  let isWaiting = (): void => undefined
  const waiting = new Promise<void>((resolve) => (isWaiting = resolve))
  const watching = (async () => {
    const watched = watchHeads({
      store: store.store,
      keys: store.keys,
      stream: 'csag:handoff/late',
      intervalMs: 20,
      signal: abort.signal,
      onAbsent: (name) => {
        absent.push(name)
        isWaiting()
      },
    })
    for await (const { entry } of watched) {
      seen.push(entry.cid)
      abort.abort()
    }
  })()
  await waiting
  const put = async (workspace: string): Promise<string> => {
    const small = { workspace, revision: 'R1', author: agents.merger }
    const file = await writeEnvelope(path.join(store.root, 'w'), small)
    return (await ok(store.run('put', file))).out.trim()
  }
  await put('csag:handoff/other')
  const late = await put('csag:handoff/late')
  await watching
  expect(seen).toEqual([late])
  expect(absent).toEqual(['csag:handoff/late'])
})
