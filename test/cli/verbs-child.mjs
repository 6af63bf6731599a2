// Runs command lines one after the other in a process of their own and prints what each left, a JSON object a line:
// node verbs-child.mjs <cwd> <env as JSON> <lines as JSON>
// The line ["held", CID…] is no verb: it says which of the CIDs the database holds whole.
import { writeSync } from 'node:fs'
import process from 'node:process'

const at = (/** @type {string} */ file) => new URL(`../../dist/src/${file}`, import.meta.url).href
/** @type {typeof import('../../src/cli/program.ts')} */
const { main } = await import(at('cli/program.js'))
/** @type {typeof import('../../store/database.ts')} */
const { openDatabase } = await import(at('../store/database.js'))

const [cwd = '', environment = '{}', lines = '[]'] = process.argv.slice(2)
/** @type {Record<string, string>} */
const env = JSON.parse(environment)

/** @param {readonly string[]} argv */
async function run(argv) {
  let out = ''
  let err = ''
  const exit = await main(argv, {
    out: (data) => void (out += Buffer.from(data).toString()),
    err: (text) => void (err += text),
    stdin: async () => new Uint8Array(),
    ask: async () => undefined,
    askSecret: async () => undefined,
    cwd,
    env,
    machine: 'bench',
  })
  return { exit, out, err }
}

/** @param {readonly string[]} cids */
async function held(cids) {
  const database = await openDatabase(env['HSTORE_STORE'] ?? '', { waitMs: 5000 })
  const reads = await database.getMany(/** @type {never} */ (cids))
  await database.close()
  return { exit: 0, out: JSON.stringify(cids.filter((_, i) => reads[i]?.state === 'ok')), err: '' }
}

for (const [verb = '', ...rest] of JSON.parse(lines)) {
  const ran =
    verb === 'held'
      ? await held(rest).catch((error) => ({ exit: 5, out: '[]', err: String(error) }))
      : await run([verb, ...rest])
  writeSync(1, `${JSON.stringify(ran)}\n`)
}
