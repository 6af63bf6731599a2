import path from 'node:path'
import { expect, it } from 'vitest'
import { DirectoryTransport } from '../../../src/sync/directory-transport.ts'
import { openOwn } from '../../../src/sync/peer.ts'
import { Quarantine } from '../../../src/sync/quarantine.ts'
import type { WithOwn } from '../../../src/sync/reconcile.ts'
import { noMarks } from '../../../src/sync/remote-marks.ts'
import type { SessionReport } from '../../../src/sync/session.ts'
import { syncSession } from '../../../src/sync/session.ts'
import type { IncomingMessage, Message } from '../../../store/wire.ts'
import type { TestStore } from '../../support/store.ts'
import { copyStore, makeSharedFolder, makeTestStore, ok, putChain } from '../../support/store.ts'

const shared = await makeSharedFolder()
/** More than two answers: 256 are asked for first. */
const length = 900

/** A remote in a process of its own would answer beside other work; this one notes what was asked, and read. */
class NotedTransport extends DirectoryTransport {
  readonly mayOverlap = true
  readonly asked: unknown[] = []

  wantsRead = 0

  get wants(): number {
    return this.asked.filter((is) => is === 'want').length
  }

  override async ask(request: Message): Promise<IncomingMessage> {
    this.asked.push(request.control['is'])
    const { control, blocks } = await super.ask(request)
    return { control, blocks: this.#noted(control['is'] === 'want', blocks) }
  }

  async *#noted(
    isWant: boolean,
    blocks: IncomingMessage['blocks'],
  ): IncomingMessage['blocks'] & AsyncGenerator {
    yield* blocks
    if (isWant) this.wantsRead += 1
  }
}

async function pull(
  here: TestStore,
  quarantine: Quarantine,
  wire: NotedTransport,
  begin: () => Promise<void>,
): Promise<SessionReport> {
  const context = { folder: here.store, keysFolder: here.keys, waitMs: 20_000 }
  const withOwn: WithOwn = async (use) => {
    await begin()
    await using own = await openOwn(context)
    return await use(own)
  }
  const options = { pull: true, push: false, dryRun: false, nowMs: 1 }
  return (await syncSession(withOwn, wire, quarantine, noMarks, options)).report
}

it('what came ahead when judging fails waits in quarantine, and is not asked for again', async () => {
  const here = await makeTestStore(path.join(shared, 'here'))
  const there = await copyStore(here, path.join(shared, 'there'))
  await putChain(there, 'csag:handoff/long', length)
  {
    await using wire = new NotedTransport(there.store, 20_000)
    const quarantine = await Quarantine.open(here.store, 'remote')
    const fail = async (): Promise<void> => {
      if (wire.wants === 0) return
      // the first answer is to be judged now
      await expect.poll(() => wire.wantsRead, { timeout: 20_000 }).toBe(2)
      throw new Error('no store')
    }
    await expect(pull(here, quarantine, wire, fail)).rejects.toThrow('no store')
    // entry, body and file of each
    expect(quarantine.arrivals.size).toBe(3 * (256 + 512))
    await quarantine.close()
  }
  expect((await here.run('heads')).out).not.toContain('long')
  await using wire = new NotedTransport(there.store, 20_000)
  const quarantine = await Quarantine.open(here.store, 'remote')
  const { pulled, unstored, behind } = await pull(here, quarantine, wire, async () => undefined)
  expect(wire.wants).toBe(1)
  expect({ pulled, unstored, behind }).toEqual({ pulled: length, unstored: [], behind: 0 })
  await quarantine.close()
  expect((await here.run('heads')).out).toBe((await there.run('heads')).out)
  await ok(here.run('fsck'))
}, 60_000)
