import type { CidText } from '../../store/cid-text.ts'
import { HandoffError } from '../errors.ts'
import { askPlain } from './ask.ts'
import type { Fields, Transport } from './protocol.ts'
import { protocolVersion } from './protocol.ts'
import type { ToldStream } from './reconcile.ts'

/** What a remote says of itself. */
export interface Hello {
  readonly genesis: CidText
  readonly roster: CidText
  readonly streams: readonly ToldStream[]
  readonly writes: boolean
}

const maxStreams = 20_000

function assertVersion(fields: Fields, { name }: Transport): void {
  const version = fields.count('v')
  if (version > protocolVersion) {
    const message = `${name} speaks version ${version} of the protocol, this hstore ${protocolVersion}: update hstore here`
    throw new HandoffError('HSTORE_VERSION_NEWER', message)
  }
  if (version !== protocolVersion) fields.fail('v')
}

/** Asks a remote which store it is, and what it has. */
export async function greet(transport: Transport): Promise<Hello> {
  const fields = await askPlain(transport, { is: 'hello', v: protocolVersion }, 'hello')
  assertVersion(fields, transport)
  return {
    genesis: fields.link('genesis'),
    roster: fields.link('roster'),
    streams: fields.rows('streams', maxStreams, (row) => ({
      stream: row.text(0),
      ranges: row.count(1),
      root: row.text(2),
    })),
    writes: fields.flag('writes'),
  }
}
