// A second process on a store, for tests: node store-child.mjs hold|try|write|cycle <directory> [id] [count]
import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import process from 'node:process'

/** @type {typeof import('../../store/database.ts')} */
const { openDatabase } = await import(new URL('../../dist/store/database.js', import.meta.url).href)
/** @type {typeof import('../../store/cid-text.ts')} */
const { cidTextOf } = await import(new URL('../../dist/store/cid-text.js', import.meta.url).href)

const [verb = '', directory = '', id = '', count = '0'] = process.argv.slice(2)

/** @param {string} line */
function say(line) {
  writeSync(1, `${line}\n`)
}

/**
 * A change of several blocks and rows that belong together, of 1 to 20 KiB.
 *
 * @param {number} i
 */
function changeOf(i) {
  const size = 512 + (createHash('sha256').update(`${id}-${i}`).digest().readUInt16LE() % 10_000)
  const blocks = ['body', 'entry'].map((kind) => {
    const bytes = new TextEncoder().encode(
      JSON.stringify({ kind, id, i, pad: kind.repeat(size / 5) }),
    )
    return { cid: cidTextOf(bytes, 'dag-json'), bytes }
  })
  const values = blocks.map(({ cid }) => cid)
  const rows = [
    { index: /** @type {const} */ ('meta'), key: `${id}-${i}`, values },
    { index: /** @type {const} */ ('marks'), key: `${id}-${i}`, values },
  ]
  return { blocks, rows }
}

/** Holds the database until it is killed or its input ends. */
async function hold() {
  const database = await openDatabase(directory, { waitMs: 30_000 })
  say('open')
  for await (const _ of process.stdin);
  await database.close()
}

/** Tries once to open the database and says what came of it. */
async function tryOnce() {
  try {
    const database = await openDatabase(directory, { waitMs: 0 })
    say('open')
    await database.close()
  } catch (error) {
    say(error instanceof Error && 'code' in error ? String(error.code) : String(error))
  }
}

/** Commits without an end, four at a time, and says which are acknowledged. */
async function write() {
  const database = await openDatabase(directory, { waitMs: 30_000 })
  let next = 0
  async function work() {
    for (;;) {
      const i = next++
      await database.commit(changeOf(i))
      say(String(i))
    }
  }
  await Promise.all([work(), work(), work(), work()])
}

/** Opens, commits and closes `count` times. */
async function cycle() {
  for (let i = 0; i < Number(count); i++) {
    const database = await openDatabase(directory, { waitMs: 30_000 })
    await database.commit(changeOf(i))
    await database.close()
  }
}

const verbs = new Map([
  ['hold', hold],
  ['try', tryOnce],
  ['write', write],
  ['cycle', cycle],
])
await verbs.get(verb)?.()
