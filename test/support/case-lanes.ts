import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { writeEnvelope } from './envelope.ts'
import { expectRefused } from './refusal.ts'
import type { TestStore } from './store.ts'
import { agents, copyStore, json, makeTestStore, ok } from './store.ts'
import { makeTempFolder } from './temp-folder.ts'

const { a, b, merger } = agents
const to = ['--to', b, '--surface', 'board:v2'] as const

interface Report {
  readonly exit: number
  readonly status: string
  readonly cid: string | null
  readonly new: boolean
}

/** Runs an act on the lane `docs` and returns its report. */
async function act(store: TestStore, agent: string, ...argv: readonly string[]): Promise<Report> {
  const [verb = '', ...rest] = argv
  const ran = await store.run('lane', verb, 'docs', ...rest, '--as', agent, '--json')
  return { ...json<Omit<Report, 'exit'>>(ran), exit: ran.exit }
}

async function entriesOf(store: TestStore): Promise<readonly unknown[]> {
  return json<{ entries: unknown[] }>(await ok(store.run('lane', 'log', 'docs', '--json'))).entries
}

/** The cases of lanes: r39, r48, r54. */
export function describeLaneCases(): void {
  describe('r39: an entry of another kind', () => {
    it('is refused with both kinds named, and nothing is written', async () => {
      const store = await makeTestStore(path.join(await makeTempFolder(), 's'))
      const envelope = await put(store, 'R1')
      await act(store, a, 'open')
      const offer = await act(store, a, 'propose', ...to, '--handoff', envelope)
      const signal = await act(
        store,
        b,
        'signal',
        '--surface',
        'board:v2',
        '--status',
        'READY',
        '--for',
        '600',
      )
      await act(store, b, 'read')
      const before = await entriesOf(store)
      const roster = json<{ body: string }>(await store.run('roster', 'show', '--json')).body
      const resumed = await ok(store.run('resume', envelope, '--as', a, '--json'))
      const { certificate } = json<{ certificate: string }>(resumed)
      const refused = async (agent: string, names: readonly string[], ...argv: string[]) =>
        expectRefused(store, ['lane', ...argv, '--as', agent], { exit: 1, names })
      await refused(b, ['envelope', 'proposal'], 'ack', 'docs', envelope)
      await refused(a, ['signal', 'proposal'], 'commit', 'docs', '--signal', offer.cid!)
      await refused(a, ['certificate', 'ack'], 'commit', 'docs', '--ack', certificate)
      await refused(a, ['signal', 'ack'], 'commit', 'docs', '--ack', signal.cid!)
      await refused(a, ['roster', 'envelope'], 'propose', 'docs', ...to, '--handoff', roster)
      expect(await entriesOf(store)).toEqual(before)
      const { out } = await ok(store.run('lane', 'show', 'docs'))
      expect(out).toContain(`owner:  ${a}\nepoch:  1\n`)
    })
  })

  describe('r48: messages that cross', () => {
    it('are seen as two heads, and what was not read blocks an offer', async () => {
      const root = await makeTempFolder()
      const store = await makeTestStore(path.join(root, 'lead'))
      const first = await put(store, 'R1')
      await act(store, a, 'open')
      await put(store, 'R2-lead', ['R1'])
      await put(store, 'R2-worker', ['R1'], b, first)
      const log = await ok(store.run('log', 'csag:crossing', '--graph'))
      expect(log.out).toContain('R2-lead')
      expect(log.out).toContain('R2-worker')
      expect((await ok(store.run('heads'))).out.match(/csag:crossing/g)).toHaveLength(2)
      await put(store, 'R3', ['R2-lead'])
      expect((await ok(store.run('heads'))).out.match(/csag:crossing/g)).toHaveLength(2)
      const late = await writeFor(store, 'R4', ['R1'], a)
      expect((await store.run('put', late, '--as', a)).exit).toBe(6)
      // the other clone of the lane's owner has the entry, and has not read it
      const clone = await copyStore(store, path.join(root, 'clone'))
      await act(store, a, 'status', 'WRITTEN')
      const car = path.join(root, 'docs.car')
      await ok(store.run('export', car, 'lane:docs'))
      await ok(clone.run('import', car))
      const blocked = await act(clone, a, 'propose', ...to)
      expect(blocked).toMatchObject({ exit: 7, status: 'BLOCKED_UNREAD_PREDECESSOR', cid: null })
      await act(clone, a, 'read')
      const offer = await act(clone, a, 'propose', ...to)
      await act(clone, b, 'read')
      const ack = await act(clone, b, 'ack')
      const { document } = json<{ document: object }>(await clone.run('show', ack.cid!, '--json'))
      expect(document).toMatchObject({ accepted_handoff_event_id: { '/': offer.cid } })
    })
  })

  describe('r54: the same claim twice', () => {
    it('is the entry that is there; another is told whom the offer is for', async () => {
      const store = await makeTestStore(path.join(await makeTempFolder(), 's'))
      await act(store, a, 'open')
      const offer = await act(store, a, 'propose', ...to)
      await act(store, b, 'read')
      const ack = await act(store, b, 'ack')
      const before = await entriesOf(store)
      expect(await act(store, b, 'ack')).toMatchObject({ exit: 0, cid: ack.cid, new: false })
      const other = await store.run('lane', 'ack', 'docs', '--as', merger)
      expect(other).toMatchObject({ exit: 1, out: '' })
      expect(other.err).toMatch(new RegExp(`^hstore: BLOCKED_ACK_RECIPIENT_MISMATCH: .*${b}\n$`))
      expect(await act(store, a, 'propose', ...to)).toMatchObject({
        exit: 0,
        cid: offer.cid,
        new: false,
      })
      expect(await entriesOf(store)).toEqual(before)
    })
  })
}

function writeFor(
  { root }: TestStore,
  revision: string,
  parents: readonly string[],
  author: string,
): Promise<string> {
  const folder = path.join(root, `bundle-${revision}`)
  return writeEnvelope(folder, { workspace: 'crossing', revision, author, parents })
}

async function put(
  store: TestStore,
  revision: string,
  parents: readonly string[] = [],
  author: string = a,
  parent?: string,
): Promise<string> {
  const file = await writeFor(store, revision, parents, author)
  const more = parent === undefined ? [] : ['--parent', parent]
  return (await ok(store.run('put', file, '--as', author, ...more))).out.trim()
}
