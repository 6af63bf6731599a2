import type { CidText } from '../../store/cid-text.ts'
import type { Message } from '../../store/wire.ts'
import { HandoffError } from '../errors.ts'
import { bytesIn } from './pieces.ts'
import { promisedSize } from './promised.ts'
import { answerBytes } from './protocol.ts'
import { Quarantine } from './quarantine.ts'
import type { Sent, Served } from './request.ts'
import { plain } from './request.ts'
import type { Rights } from './rights.ts'

/** Takes in more of a large artifact, and says how much of it is here. */
export async function give({ served, fields, rights, blocks }: Sent): Promise<Message> {
  assertWriter(rights)
  const artifact = fields.link('artifact')
  const quarantine = await quarantineOf(served, rights)
  try {
    const have = await quarantine.sizeOf(artifact)
    if (have !== fields.count('at') || quarantine.isWhole(artifact)) {
      for await (const _block of blocks);
      return told(have)
    }
    const size = fields.optionalCount('size') ?? have
    const room = await roomFor(served, quarantine, artifact, Math.max(size, have + 1))
    if (size > room) throw full(quarantine, artifact)
    const refuse = (): never => {
      quarantine.refuse(artifact)
      return fields.fail('order')
    }
    const most = Math.min(answerBytes, room - have)
    await quarantine.append(artifact, bytesIn(blocks, fields, most, refuse))
    const there = await quarantine.sizeOf(artifact)
    // who gives nothing more has given all
    if (there > 0 && there === have) await takeWhole(quarantine, artifact, rights)
    return told(there)
  } finally {
    quarantine.close()
  }
}

function told(have: number): Message {
  return plain({ is: 'give', have })
}

/** Entries that wait are looked at only where there is no room without their word, and once for each artifact. */
async function roomFor(
  served: Served,
  quarantine: Quarantine,
  artifact: CidText,
  size: number,
): Promise<number> {
  const room = await quarantine.roomFor(artifact)
  if (size <= room || quarantine.promised.has(artifact)) return room
  await using peer = await served.open()
  const promised = await promisedSize(peer, quarantine.arrivals, artifact)
  if (promised === undefined) return room
  quarantine.promised.set(artifact, promised)
  return promised
}

function full(quarantine: Quarantine, artifact: CidText): HandoffError {
  quarantine.refuse(artifact)
  const message = `${artifact} is larger than an entry that waits says, or than what may wait`
  return new HandoffError('HSTORE_QUARANTINE_FULL', message)
}

/** What does not hash to its name is gone: the entry that needs it stays incomplete. */
async function takeWhole(
  quarantine: Quarantine,
  artifact: CidText,
  { who }: Rights,
): Promise<void> {
  try {
    await quarantine.complete(artifact, who)
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error
  }
}

/** Sizes that entries with a right have promised, by store and who sent them: only keys of the roster send. */
const promises = new Map<string, Map<CidText, number>>()
const maxPromises = 10_000

/** Opens what one client has sent and waits. */
export function quarantineOf({ directory }: Served, { who }: Rights): Promise<Quarantine> {
  const key = `${who} ${directory}`
  const promised = promises.get(key) ?? new Map<CidText, number>()
  promises.set(key, promised)
  // they can be found again
  if (promised.size > maxPromises) promised.clear()
  return Quarantine.open(directory, `from ${who}`, undefined, promised)
}

/** @throws {HandoffError} `HSTORE_REMOTE_DENIED` */
export function assertWriter({ mayWrite }: Rights): void {
  if (mayWrite) return
  throw new HandoffError('HSTORE_REMOTE_DENIED', 'this key may not write here')
}
