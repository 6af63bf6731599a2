// Puts envelopes in a process of its own and prints each CID once it is acknowledged, or a code where it is refused:
// node put-child.mjs <endless|each> <store> <keys> <agent> <workspace> <bundle> [count] [parent]
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

/** @type {typeof import('../../src/index.ts')} */
const { openStore } = await import(new URL('../../dist/src/index.js', import.meta.url).href)

const [verb, store, keys = '', agent = '', workspace = '', bundle = '', count = '0', parent = ''] =
  process.argv.slice(2)

/** @param {string} name @param {number} size */
function fileOf(name, size) {
  const block = createHash('sha256').update(`${workspace} ${name}`).digest()
  const bytes = Buffer.alloc(size, block)
  mkdirSync(bundle, { recursive: true })
  writeFileSync(join(bundle, name), bytes)
  return {
    id: `${workspace}/artifact/${name}`,
    artifact_role: 'dataset',
    artifact_path: name,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    byte_size: size,
  }
}

/** @param {number} i */
function envelopeOf(i) {
  const revision = `${workspace}/revision/R${agent}-${i}`
  const created = { created_by: agent, created_on: '2026-03-14T09:00:00Z' }
  const paper = {
    id: `${workspace}/artifact/PAPER`,
    artifact_role: 'paper_extraction',
    artifact_path: 'https://example.org/paper.json',
    sha256: '0'.repeat(64),
  }
  // every third file lies beside the database
  const size = i % 3 === 2 ? 1_048_577 + i : 100 + i
  return {
    id: workspace,
    envelope_version: '1.0.0',
    revision,
    parents: parent === '' ? [] : [`${workspace}/revision/ROOT`],
    source_artifacts: [paper, fileOf(`f${i}.bin`, size)],
    current_heads: [revision],
    ...created,
  }
}

/** @param {import('../../src/open-store.ts').Store} open @param {number} i */
async function put(open, i) {
  const parents = parent.startsWith('bagu') ? [parent] : []
  try {
    const { cid } = await open.put(envelopeOf(i), { bundle, parents })
    writeSync(1, `${cid}\n`)
  } catch (error) {
    if (parent !== 'ROOT') throw error
    writeSync(1, `${/** @type {{ code?: string }} */ (error).code}\n`)
  }
}

const options = { store, keys, agent, waitMs: 120_000 }
if (verb === 'each') {
  for (let i = 0; i < Number(count); i++) {
    const open = await openStore(options)
    await put(open, i)
    await open.close()
  }
} else {
  const open = await openStore(options)
  let next = 0
  const work = async () => {
    for (;;) await put(open, next++)
  }
  await Promise.all([work(), work(), work()])
}
