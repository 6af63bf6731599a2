// Runs one target under a coverage-guided fuzzer: `npm run fuzz:guided -- TARGET [SECONDS]`. The fuzzer is no dependency:
// npx fetches it. Its addon for Linux wants glibc 2.38.
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.mjs'

const fuzzer = '@jazzer.js/core@4.0.0'
const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))))
const [target = 'block', seconds = '600'] = process.argv.slice(2)
process.env['HSTORE_FUZZ_ROOT'] = root
process.env['HSTORE_FUZZ_TARGET'] = target
const file = await bundle(root, 'guided', 'cjs')
const corpus = path.join(root, 'dist.fuzz', 'corpus', target)
const { default: guided } = await import(file)
await guided.writeSeeds(corpus)
const words = [file, corpus, '--fuzzEntryPoint', 'fuzz', '-i', 'dist.fuzz/guided']
const kept = path.join(root, 'dist.fuzz', `${target}-`)
const limits = [
  `-max_total_time=${seconds}`,
  `-artifact_prefix=${kept}`,
  '-timeout=5',
  '-rss_limit_mb=2048',
  '-max_len=4096',
]
const run = spawnSync('npx', ['--yes', fuzzer, ...words, '--', ...limits], {
  cwd: root,
  stdio: 'inherit',
  env: process.env,
})
process.exitCode = run.status ?? 1
