// Every verb that reads a history, each as a process of its own.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { author } from './envelope.mjs'
import { rowOf } from './large-run.mjs'

/** Returns rows for a store in `dir`, whose `ref` names what is read and whose `next(i)` goes on from it. */
export async function measureStore(dir, { ref, next }) {
  const rows = []
  const measure = async (title, argv, options) => {
    rows.push(await rowOf(title, dir, argv, options))
  }
  await measure('heads', ['heads'])
  await measure('show', ['show', ref])
  await measure('get', ['get', ref])
  await measure('log -n 10', ['log', ref, '-n', '10'])
  await measure('log', ['log', ref])
  await measure('log --json', ['log', ref, '--json'])
  await measure('verify --all', ['verify', '--all'])
  await measure('resume, first', ['resume', ref])
  await measure('resume, again', ['resume', ref])
  const other = path.join(dir, 'other')
  mkdirSync(other)
  cpSync(path.join(dir, 'keys'), path.join(other, 'keys'), { recursive: true })
  const from = path.join(dir, 'store')
  const { genesis } = JSON.parse(readFileSync(path.join(from, 'config.json'), 'utf8'))
  const clone = ['clone', from, '--genesis', genesis, '--as', author]
  rows.push(await rowOf('clone', other, clone))
  for (let i = 0; i < 10; i++) await put(`put ${i + 1}`, i)
  rows.splice(-9)
  const last = next(9).document.revision
  rows.push(await rowOf('sync, 10 new', other, ['sync', from]))
  rmSync(other, { recursive: true, force: true })
  await measure('resume, 10 later', ['resume', last])
  await measure('roster alias', ['roster', 'alias', author, 'csag:agent/also'])
  await measure('resume, new roster', ['resume', last])
  await measure('verify', ['verify', last])
  await measure('resume --full', ['resume', last, '--full'])
  await measure('verify --all --full', ['verify', '--all', '--full'])
  return rows

  async function put(title, i) {
    const file = path.join(dir, `next-${i}.json`)
    const { document, fork } = next(i)
    writeFileSync(file, JSON.stringify(document))
    const parents = fork === undefined ? [] : document.parents.flatMap((name) => ['--parent', name])
    await measure(title, ['put', file, ...parents])
  }
}
