import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { oddLiterals } from '../fuzz/odd-values.ts'
import { randomOf } from '../support/envelope.ts'
import { historyBundle, historyFiles } from '../support/history.ts'
import type { TestStore } from '../support/store.ts'
import { json, makeSharedFolder, makeTestStore } from '../support/store.ts'

const seed = 77
const rounds = process.env['HSTORE_SOAK'] ? 2000 : 60
const shared = await makeSharedFolder()
let store: TestStore
let texts: readonly string[]

beforeAll(async () => {
  store = await makeTestStore(path.join(shared, 'store'))
  texts = await Promise.all(historyFiles.map(({ file }) => readFile(file, 'utf8')))
})

/** Changes a document's text in one place or two: a value, a key, a byte. */
function changed(text: string, random: () => number): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const kind = Math.floor(random() * 5)
  const values = [...text.matchAll(/: ?("(?:[^"\\]|\\.)*"|\d+|\[\]|null)/g)]
  const keys = [...text.matchAll(/"([a-z_0-9]+)":/g)]
  const at = pick(kind < 3 ? values : keys)
  const end = at.index + at[0].length
  if (kind < 3) return `${text.slice(0, at.index)}: ${pick(oddLiterals)}${text.slice(end)}`
  if (kind === 3) {
    const key = pick(['__proto__', 'constructor', '/', '', 'id', 'toString', at[1]!.toUpperCase()])
    return `${text.slice(0, at.index)}"${key}":${text.slice(end)}`
  }
  const byte = Math.floor(random() * text.length)
  return `${text.slice(0, byte)}${String.fromCharCode(Math.floor(random() * 128))}${text.slice(byte + 1)}`
}

/** Puts what comes out and returns what was wrong with how hstore took it, undefined when nothing was. */
async function faultOf(text: string, agent: string): Promise<string | undefined> {
  const argv = ['put', '-', '--bundle', historyBundle, '--as', agent, '--shallow', '--json']
  const put = await store.runWith({ stdin: text }, ...argv)
  if (put.exit !== 0) {
    const { code } = JSON.parse(put.err) as { code: string }
    const isKnown = [1, 2, 4, 6].includes(put.exit) && code !== 'HSTORE_BUG' && put.out === ''
    return isKnown ? undefined : `put: ${put.exit} ${put.err}`
  }
  const { cid } = json<{ cid: string }>(put)
  const { outBytes } = await store.run('get', cid, '--original')
  if (Buffer.from(outBytes).toString() !== text) return 'the original is another'
  const resumed = await store.run('resume', cid, '--no-certificate', '--json')
  return resumed.exit === 0 || resumed.exit === 1
    ? undefined
    : `resume: ${resumed.out}${resumed.err}`
}

describe('put', () => {
  it(`takes or refuses whatever comes, ${rounds} times (seed ${seed})`, async () => {
    const random = randomOf(seed)
    const faults: string[] = []
    for (let round = 0; round < rounds; round++) {
      const i = Math.floor(random() * texts.length)
      // a name of its own, so that it is not refused for having been given
      const named = texts[i]!.replaceAll('/revision/R', `/revision/${round}-R`)
      const once = changed(named, random)
      const text = random() < 0.3 ? changed(once, random) : once
      const fault = await faultOf(text, historyFiles[i]!.agent)
      if (fault !== undefined) faults.push(`round ${round}: ${fault.slice(0, 400)}`)
    }
    expect(faults).toEqual([])
    const { heads } = json<{ heads: unknown[] }>(await store.run('heads', '--json'))
    expect(heads.length).toBeGreaterThan(rounds / 20)
    expect((await store.run('verify', '--all')).exit).toBe(0)
  })
})
