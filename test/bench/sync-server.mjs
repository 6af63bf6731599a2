// Serves a store over its own pipes, and writes down how many bytes went over them:
// node sync-server.mjs <store> <keys> <file for the counts>
import { writeFileSync } from 'node:fs'
import { loadSync } from './build.mjs'

const [store, keys, counts] = process.argv.slice(2)
const { serveOverPipes } = await loadSync()
let up = 0
let down = 0
const note = () => writeFileSync(counts, JSON.stringify({ up, down }))

async function* counted(input) {
  for await (const chunk of input) {
    up += chunk.length
    yield chunk
  }
}

async function write(chunk) {
  down += chunk.length
  if (!process.stdout.write(chunk)) await new Promise((go) => process.stdout.once('drain', go))
}

await serveOverPipes({ store, keys }, { input: counted(process.stdin), write })
note()
