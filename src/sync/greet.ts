import type { CidText } from '../../store/cid-text.ts'
import { askPlain } from './ask.ts'
import type { Transport } from './protocol.ts'
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

/** Asks a remote which store it is, and what it has. */
export async function greet(transport: Transport): Promise<Hello> {
  const fields = await askPlain(transport, { is: 'hello', v: protocolVersion }, 'hello')
  if (fields.count('v') !== protocolVersion) fields.fail('v')
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
