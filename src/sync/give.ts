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

/** A request that waits has room here all the time: a client that is told that another brings it asks again. */
const waitMs = 2000

/** Takes in more of a large artifact, and says how much of it is here, and why it may be less than was sent. */
export async function give({ served, fields, rights, hungUp, blocks }: Sent): Promise<Message> {
  assertWriter(rights)
  const artifact = fields.link('artifact')
  const at = fields.count('at')
  const quarantine = await quarantineOf(served, rights)
  try {
    const isHeld = await quarantine.large.hold(artifact, hungUp, waitMs)
    const have = await quarantine.large.sizeOf(artifact)
    if (!isHeld || have !== at || quarantine.large.isWhole(artifact)) {
      for await (const _block of blocks);
      return told(have, isHeld ? undefined : 'another request brings it')
    }
    const size = fields.optionalCount('size') ?? have
    const room = await roomFor(served, quarantine, artifact, Math.max(size, have + 1))
    if (size > room) throw full(quarantine, artifact)
    const refuse = (): never => {
      quarantine.large.refuse(artifact)
      return fields.fail('order')
    }
    const most = Math.min(answerBytes, room - have)
    await quarantine.large.append(artifact, at, bytesIn(blocks, fields, most, refuse))
    const there = await quarantine.large.sizeOf(artifact)
    // who gives nothing more has given all
    if (there === 0 || there > have) return told(there)
    const why = await takeWhole(quarantine, artifact, rights)
    return told(why === undefined ? there : 0, why)
  } finally {
    await quarantine.close()
  }
}

function told(have: number, why?: string): Message {
  return plain({ is: 'give', have, ...(why !== undefined && { why }) })
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
  quarantine.large.refuse(artifact)
  const message = `${artifact} is larger than its document says, or has no byte_size there and is more than may wait: hstore export and import take it over`
  return new HandoffError('HSTORE_QUARANTINE_FULL', message)
}

/** Returns why it is none: what does not hash to its name is gone, and the entry that needs it stays incomplete. */
async function takeWhole(
  quarantine: Quarantine,
  artifact: CidText,
  { who }: Rights,
): Promise<string | undefined> {
  try {
    await quarantine.complete(artifact, who)
    return undefined
  } catch (error) {
    if (!(error instanceof HandoffError)) throw error
    return 'all that came of it does not hash to it: hstore fsck tells whether it is sound where it comes from'
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
