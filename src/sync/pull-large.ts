import { linkForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Asked } from './ask.ts'
import { ask } from './ask.ts'
import { bytesIn } from './pieces.ts'
import type { Progress } from './progress.ts'
import type { Transport } from './protocol.ts'
import { answerBytes } from './protocol.ts'
import type { Quarantine } from './quarantine.ts'

/** A large artifact, and an entry of a stream that needs it. */
export interface LargeWanted {
  readonly stream: string
  readonly entry: CidText
  readonly cid: CidText
  readonly size: number
}

/** An answer that was asked for before its turn. */
interface Ahead {
  readonly at: number
  readonly answer: Promise<Asked>
}

/** Fetches a large artifact in pieces, from where it was cut before; where the remote gives no more of it, it is left. */
export async function pullLarge(
  transport: Transport,
  quarantine: Quarantine,
  progress: Progress,
  { stream, entry, cid, size }: LargeWanted,
): Promise<void> {
  const askFrom = (at: number): Promise<Asked> => {
    const control = { is: 'piece', stream, entry: linkForm(entry), artifact: linkForm(cid), at }
    return ask(transport, { control, blocks: [] }, 'piece')
  }
  let ahead: Ahead | undefined
  for (let at = await quarantine.sizeOf(cid); at < size;) {
    const { fields, blocks } = await (ahead?.answer ?? askFrom(at))
    // the remote reads the next piece while this one is written
    ahead = transport.mayOverlap === true ? aheadOf(at + answerBytes, size, askFrom) : undefined
    await quarantine.append(cid, counted(bytesIn(blocks, fields), progress))
    const here = await quarantine.sizeOf(cid)
    if (ahead !== undefined && ahead.at !== here) {
      await drop(ahead)
      ahead = undefined
    }
    if (here === at) return
    at = here
  }
  await quarantine.complete(cid, transport.name)
}

function aheadOf(
  at: number,
  size: number,
  askFrom: (at: number) => Promise<Asked>,
): Ahead | undefined {
  if (at >= size) return undefined
  const answer = askFrom(at)
  answer.catch(() => undefined) // told when it is awaited
  return { at, answer }
}

async function drop({ answer }: Ahead): Promise<void> {
  const { blocks } = await answer
  for await (const _block of blocks);
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  progress: Progress,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    progress.block(chunk.length)
    yield chunk
  }
}
