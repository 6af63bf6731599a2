import path from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  evaluateHrc,
  evaluateQuiescence,
  evaluateSideEffect,
  HstoreError,
  init,
  openStore,
} from '../../src/index.ts'
import { agents, makeSharedFolder, makeTestStore } from '../support/store.ts'

const shared = await makeSharedFolder()
const made = await makeTestStore(path.join(shared, 'store'))
const odd: readonly unknown[] = [null, 1, 1n, {}, [1], Symbol('x'), () => 1, Number.NaN, '', 'x']

/** A door may take what is odd; what it throws has a code. */
async function codeOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    await call()
    return 'HSTORE_'
  } catch (error) {
    return error instanceof HstoreError ? error.code : error
  }
}

describe('every door of the library', () => {
  it('tells a wrong argument by a code', async () => {
    await using store = await openStore({ store: made.store, keys: made.keys, agent: agents.a })
    for (const value of odd as readonly never[]) {
      const calls = {
        addToRoster: () => store.addToRoster(value, value, value),
        entry: () => store.entry(value),
        evaluateHrc: async () => evaluateHrc(value, value, value),
        'evaluateHrc files': async () =>
          evaluateHrc('commit', { state: value, proposal: value, signal: value }, 0),
        evaluateQuiescence: async () => evaluateQuiescence(value, value),
        evaluateSideEffect: async () => evaluateSideEffect(value, value, value),
        get: () => store.get(value),
        init: () => init(value),
        log: () => store.log(value),
        openStore: () => openStore(value),
        'openStore keys': () =>
          openStore({ store: made.store, keys: value }).then((s) => s.heads()),
        'openStore store': () => openStore({ store: value, keys: made.keys }),
        put: () => store.put(value),
        'put options': () => store.put({}, value),
        resume: () => store.resume(value),
        'resume input': () => store.resume('x', value),
        'turns.append': () => store.turns.append(value, value),
        'turns.append draft': () => store.turns.append('x', { agent: 'a', to: 'b', at: value }),
        'turns.append into': () =>
          store.turns.append('x', { agent: 'a', to: 'b', at: '' }, { path: value, files: value }),
        'turns.export': () => store.turns.export(value),
        'turns.import': () => store.turns.import(value, value),
        'turns.import files': () => store.turns.import('x', { living: value, archive: value }),
        'turns.log': () => store.turns.log(value),
        'turns.validate': () => store.turns.validate(value),
        validate: () => store.validate(value),
        verify: () => store.verify(value),
        'verify ref': () => store.verify([value]),
      }
      for (const [door, call] of Object.entries(calls)) {
        const code = await codeOf(call)
        expect({ door, value: String(value as unknown), code }).toMatchObject({
          code: expect.stringMatching(/^HSTORE_/) as string,
        })
      }
    }
  })
})
