import type { JsonMap } from '../../store/canonical.ts'
import type { IncomingMessage, Message } from '../../store/wire.ts'
import { StoreError } from '../../store/errors.ts'
import type { HandoffErrorCode } from '../errors.ts'
import { HandoffError } from '../errors.ts'
import { quoted } from '../kernel/shown.ts'
import type { Transport } from './protocol.ts'
import { Fields } from './protocol.ts'

/** An answer that is what was asked for. */
export interface Asked {
  readonly fields: Fields
  readonly blocks: IncomingMessage['blocks']
}

/** What a remote may say of itself; all else that it says is a failure of its own. */
const told: ReadonlyMap<string, HandoffErrorCode> = new Map([
  ['HSTORE_REMOTE_DENIED', 'HSTORE_REMOTE_DENIED'],
])

/**
 * Asks a remote.
 *
 * @param is - What its answer has to be.
 * @throws {HandoffError} `HSTORE_REMOTE_FAILED`, `HSTORE_REMOTE_DENIED` where it refuses; `HSTORE_REMOTE_INVALID`.
 */
export async function ask(transport: Transport, request: Message, is: string): Promise<Asked> {
  const { control, blocks } = await laidTo(transport, () => transport.ask(request))
  const fields = new Fields(control, transport.name)
  if (fields.is === 'no') {
    const code = told.get(fields.text('code')) ?? 'HSTORE_REMOTE_FAILED'
    const message = `${transport.name} refuses: ${quoted(fields.text('message'))}`
    throw new HandoffError(code, message, { details: { said: fields.text('code') } })
  }
  if (fields.is !== is) fields.fail('is')
  return { fields, blocks: laidBlocks(transport, blocks) }
}

async function* laidBlocks(
  transport: Transport,
  blocks: IncomingMessage['blocks'],
): IncomingMessage['blocks'] & AsyncGenerator {
  const iterator = blocks[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await laidTo(transport, () => iterator.next())
      if (next.done === true) return
      yield next.value
    }
  } finally {
    await iterator.return?.()
  }
}

/** What can't be read of an answer is the remote's fault. */
async function laidTo<T>({ name }: Transport, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (cause) {
    if (!(cause instanceof StoreError) || cause.code !== 'HSTORE_CAR_INVALID') throw cause
    const { details } = cause
    throw new HandoffError('HSTORE_REMOTE_INVALID', `${name}: ${cause.message}`, { cause, details })
  }
}

/** Asks for an answer that carries no blocks. */
export async function askPlain(
  transport: Transport,
  control: JsonMap,
  is: string,
): Promise<Fields> {
  const { fields, blocks } = await ask(transport, { control, blocks: [] }, is)
  for await (const { cid } of blocks) return fields.fail(cid)
  return fields
}
