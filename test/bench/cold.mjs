// Cold starts: whole processes of the command line, in turn with an empty script, alone and through `hstore serve`.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { dist } from './build.mjs'
import { author, envelope } from './envelope.mjs'

const bin = path.join(path.dirname(dist), 'bin/hstore')

/** Runs each case `rounds` times, round robin, and returns its wall times in ms by name. */
export async function coldStarts(folder, rounds) {
  mkdirSync(folder, { recursive: true })
  const empty = path.join(folder, 'empty.mjs')
  writeFileSync(empty, '')
  const alone = madeStore(path.join(folder, 'alone'))
  const served = madeStore(path.join(folder, 'served'))
  const server = spawn(process.execPath, [bin, 'serve'], { env: served.env })
  try {
    await once(server.stdout, 'data')
    const cases = {
      'empty .mjs': { env: process.env, next: () => [empty] },
      '--version': { env: process.env, next: () => [bin, '--version'] },
    }
    for (const [name, next] of Object.entries(alone.cases)) {
      cases[name] = { env: alone.env, next }
      cases[`${name}, served`] = { env: served.env, next: served.cases[name] }
    }
    return inTurn(cases, rounds)
  } finally {
    server.kill()
  }
}

function inTurn(cases, rounds) {
  const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]))
  // the first round warms the file system's cache
  for (let round = -1; round < rounds; round++) {
    for (const [name, { env, next }] of Object.entries(cases)) {
      const time = timed(next(), env, name.startsWith('resume') ? [0, 1] : [0])
      if (round >= 0) times[name].push(time)
    }
  }
  return times
}

/** A store with an envelope and a lane, and what is done in it. */
function madeStore(folder) {
  const place = { HSTORE_STORE: path.join(folder, 'store'), HSTORE_KEYS: path.join(folder, 'keys') }
  const env = { ...process.env, ...place, HSTORE_AGENT: author }
  mkdirSync(folder, { recursive: true })
  let files = 0
  const putNext = () => {
    const file = path.join(folder, `envelope-${files}.json`)
    writeFileSync(file, JSON.stringify(envelope(files)))
    files += 1
    return [bin, 'put', file]
  }
  run([bin, 'init', '--as', author, '--no-passphrase'], env)
  const cid = run(putNext(), env).trim()
  run([bin, 'lane', 'open', 'bench'], env)
  const execution = path.join(folder, 'execution.json')
  writeFileSync(execution, JSON.stringify(executionOf('bench')))
  const cases = {
    get: () => [bin, 'get', cid],
    'may-act': () => [bin, 'may-act', '--execution', execution],
    put: putNext,
    resume: () => [bin, 'resume', 'csag:handoff/bench'],
  }
  return { env, cases }
}
/** What the owner of a lane runs at its first epoch. */
function executionOf(lane) {
  return {
    execution_id: 'run',
    authority_lane_id: lane,
    authority_owner_ref: author,
    authority_epoch: 1,
    root_execution_id: 'run',
    actor_ref: author,
  }
}

function timed(args, env, codes) {
  const begin = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  const ms = performance.now() - begin
  if (!codes.includes(status))
    throw new Error(`${args.slice(1).join(' ')}: exit ${status} ${stderr}`)
  return ms
}

function run(args, env) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${args.slice(1).join(' ')}: exit ${status} ${stderr}`)
  return stdout
}
