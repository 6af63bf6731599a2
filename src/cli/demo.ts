import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { init, newKeyFor, openStore } from '../index.ts'
import type { Inbox, ResumeJson, Store } from '../index.ts'
import { changeOneByte } from './demo-damage.ts'
import { plain } from './render.ts'

const bundle = fileURLToPath(new URL('../../../fixtures/history/bundle/', import.meta.url))
const merger = 'csag:agent/merger'
const successor = 'csag:agent/agent-a'
const history = [
  { file: 'r0001.json', agent: successor },
  { file: 'r0002-agent-a.json', agent: successor },
  { file: 'r0002-agent-b.json', agent: 'csag:agent/agent-b', forks: true },
  { file: 'r0003.json', agent: merger },
]
const stream = 'csag:handoff/tide-gauge'
const lane = 'tide-gauge'
const surface = 'board:v2'
const relay = `<!-- M8SHIFT:LOCK:BEGIN -->
holder:   none
state:    IDLE
agents:   merger,agent-a
lang:     en
turn:     0
since:    2026-01-01T00:00:00Z
expires:  -
note:     session initialized, no turn opened
<!-- M8SHIFT:LOCK:END -->
`
const noPassphrase = async (): Promise<undefined> => undefined

/** Where the demo's store and keys are. */
interface Place {
  readonly keys: string
  readonly store: string
  readonly folder: string
}

function title(text: string): void {
  process.stdout.write(`\n${text}\n`)
}

function say(verb: string, text: string): void {
  process.stdout.write(`  ${verb.padEnd(12)} ${plain(text)}\n`)
}

/** A CID that nobody has to copy: the store is gone when the demo has ended. */
function brief(cid: string | null): string {
  return cid === null ? 'nothing' : `${cid.slice(0, 16)}…`
}

function open({ keys, store }: Place, agent: string): Promise<Store> {
  return openStore({ store, keys, agent })
}

/** Does something as an agent, in a store that is opened and closed for it, as each verb does. */
async function as<T>(place: Place, agent: string, act: (store: Store) => Promise<T>): Promise<T> {
  await using store = await open(place, agent)
  return await act(store)
}

/** Makes three keys and a store that trusts them. */
async function prepare(place: Place): Promise<void> {
  title('A store, and agents that it trusts')
  const { keys, store } = place
  const world = { machine: hostname(), waitMs: 1000, noPassphrase: true, passphrase: noPassphrase }
  const made = await init({ store, cwd: '.', keys, agent: merger, ...world })
  say('init', `genesis ${brief(made.genesis)}, root ${merger}`)
  await as(place, merger, async (root) => {
    for (const agent of [successor, 'csag:agent/agent-b']) {
      const { did } = await newKeyFor(keys, agent, true, noPassphrase)
      await root.addToRoster(agent, did, hostname())
      say('roster add', agent)
    }
    for (const agent of [merger, successor]) {
      const alias = agent.slice('csag:agent/'.length)
      await root.rosters.make({ change: 'alias', agent, alias })
    }
  })
}

/** Puts the history from the bundle's folder, each revision by its own agent. */
async function putAll(place: Place): Promise<void> {
  title('The workspace: four envelopes with their files, each signed by its author')
  let first: string | undefined
  for (const { file, agent, forks } of history) {
    await as(place, agent, async (mine) => {
      const parents = forks === true && first !== undefined ? [first] : []
      const bytes = await readFile(path.join(place.folder, file))
      const report = await mine.put(bytes, { bundle: place.folder, parents })
      first ??= report.cid
      const revision = report.revision.slice(report.revision.lastIndexOf('/') + 1)
      say('put', `${brief(report.cid)} ${revision} by ${agent}`)
    })
  }
}

/** Opens a lane, offers it with the work, and asks for it in a turn. */
async function offer(place: Place): Promise<void> {
  title(`${merger} holds the pen, and offers it to ${successor}`)
  await as(place, merger, async (mine) => {
    await mine.lanes.open(lane)
    say('lane open', `${lane}: ${merger} at epoch 1`)
    await mine.turns.import(lane, { living: { name: 'M8SHIFT.md', bytes: Buffer.from(relay) } })
    const ask = 'compare gauge and staff with the benchmark'
    const at = `${new Date().toISOString().slice(0, 19)}Z`
    const turn = await mine.turns.append(lane, { agent: 'merger', to: 'agent-a', ask, at })
    say('turn append', `${brief(turn.cid)} turn ${turn.number} to ${turn.to}: ${ask}`)
    const made = await mine.lanes.propose(lane, { to: successor, surface, handoff: stream })
    say('lane propose', `${brief(made.cid)} ${made.status}`)
    await commit(mine)
  })
}

async function commit(mine: Store): Promise<void> {
  const { status, cid } = await mine.lanes.commit(lane, { now: now(), isNowGiven: false })
  say('lane commit', `${status}${cid === null ? ': nothing is written' : ` ${brief(cid)}`}`)
}

/** Says that it can be reached, reads, and accepts exactly that offer. */
async function accept(place: Place): Promise<void> {
  title(`${successor} can be reached, reads the lane, and accepts exactly that offer`)
  await as(place, successor, async (mine) => {
    tellInbox(await mine.inbox(now()))
    const ready = { surface, status: 'READY', now: now(), forSeconds: 600 } as const
    say('lane signal', `READY over ${surface} ${brief((await mine.lanes.signal(lane, ready)).cid)}`)
    const early = await mine.lanes.ack(lane)
    say('lane ack', `${early.status}: nothing is written`)
    const { entries } = await mine.lanes.read(lane, successor)
    say('lane read', `${entries.length} entries`)
    say('lane ack', brief((await mine.lanes.ack(lane)).cid))
  })
  await as(place, merger, commit)
}

/** Goes on as the new owner. */
async function goOn(place: Place): Promise<void> {
  title(`${successor} is the owner now, and goes on`)
  await as(place, successor, async (mine) => {
    tellResume(await mine.resume(stream, { now: now() }))
    await mine.lanes.read(lane, successor)
    const { status } = await mine.lanes.status(lane, 'LEVELLING')
    say('lane status', `LEVELLING: ${status}`)
  })
}

/** What the old owner still tries is refused. */
async function refuse(place: Place): Promise<void> {
  title(`${merger} is the owner no more`)
  await as(place, merger, async (mine) => {
    tellInbox(await mine.inbox(now()))
    const late = await mine.lanes.status(lane, 'MINE AGAIN')
    say('lane status', late.status)
    const run = {
      execution_id: 'run-1',
      authority_lane_id: lane,
      authority_owner_ref: merger,
      authority_epoch: 1,
      root_execution_id: 'run-1',
      actor_ref: merger,
    }
    const execution = { name: 'run.json', bytes: Buffer.from(JSON.stringify(run)) }
    say('may-act', (await mine.lanes.mayAct({ execution }, now())).status)
    const report = await mine.resume(stream, { now: now(), certificate: false })
    tellResume(report)
    if (late.cid !== null || report.verdict !== 'unsafe')
      throw new Error('the old owner was let through')
  })
}

/** Changes one byte on the disk, and asks again. */
async function damage(place: Place): Promise<void> {
  title('One byte of the work changes on the disk')
  const { body } = await as(place, successor, (mine) => mine.entry(stream))
  await changeOneByte(place.store, body)
  const report = await as(place, successor, (mine) => mine.resume(stream, { now: now() }))
  tellResume(report)
  if (report.verdict !== 'unsafe') throw new Error('the gate let a changed byte through')
}

function tellInbox({ received, made, turns }: Inbox): void {
  for (const { to, states } of [...received, ...made])
    say('inbox', `offer to ${to}: ${states.map(({ state }) => state).join(', ')}`)
  for (const { agent, ask } of turns) say('inbox', `${agent} asks: ${ask}`)
}

function tellResume({ verdict, agent, exit, findings, actions }: ResumeJson): void {
  say('resume', `${verdict} for ${agent}, exit ${exit}`)
  for (const { code, severity, message } of findings)
    if (severity === 'error') say('', `${code} ${message}`)
  for (const { description } of actions) say('', `next: ${description}`)
}

function now(): number {
  return Math.floor(Date.now() / 1000)
}

/** Tells the whole story on the worked history, in a folder of its own that is gone afterwards. */
async function demo(): Promise<void> {
  const root = await mkdtemp(path.join(tmpdir(), 'hstore-demo-'))
  const at = (name: string): string => path.join(root, name)
  const place = { keys: at('keys'), store: at('store'), folder: at('bundle') }
  try {
    await cp(bundle, place.folder, { recursive: true })
    await prepare(place)
    await putAll(place)
    await offer(place)
    await accept(place)
    await goOn(place)
    await refuse(place)
    await damage(place)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}

await demo()
