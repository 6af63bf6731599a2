import { HandoffError } from '../errors.ts'
import { openInput } from './input.ts'
import type { Io } from './io.ts'

/** A line of an input, by its number from 1 on. */
export interface Line {
  readonly number: number
  readonly bytes: Uint8Array
}

const newline = 0x0a
// a file of one envelope may have as many
const maxLineBytes = 4 * 1024 * 1024

/**
 * Returns the lines of an input as they come, without their ends and without those that are blank; the last needs no
 * end.
 *
 * @throws {HandoffError} `HSTORE_INPUT_TOO_LARGE` for a line of more than 4 MiB; `HSTORE_INPUT_UNREADABLE`.
 */
export async function* linesOf(io: Io, file: string): AsyncGenerator<Line> {
  const input = await openInput(io, file)
  const chunks = input instanceof Uint8Array ? [input] : input
  let number = 1
  let open: Uint8Array[] = []
  let openBytes = 0
  const hold = (part: Uint8Array): void => {
    openBytes += part.length
    if (openBytes > maxLineBytes) throw tooLong(file, number)
    open.push(part)
  }
  const take = (): Line => {
    const whole = open.length === 1 ? open[0]! : Buffer.concat(open)
    const line = { number, bytes: withoutReturn(whole) }
    open = []
    openBytes = 0
    number += 1
    return line
  }
  for await (const chunk of chunks) {
    let at = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, at)) {
      hold(chunk.subarray(at, end))
      at = end + 1
      const line = take()
      if (!isBlank(line)) yield line
    }
    hold(chunk.slice(at))
  }
  const last = take()
  if (!isBlank(last)) yield last
}

function withoutReturn(bytes: Uint8Array): Uint8Array {
  return bytes.at(-1) === 0x0d ? bytes.subarray(0, -1) : bytes
}

function isBlank({ bytes }: Line): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09)
}

function tooLong(file: string, number: number): HandoffError {
  return new HandoffError(
    'HSTORE_INPUT_TOO_LARGE',
    `${file}:${number}: the line is more than ${maxLineBytes} bytes: put one envelope a line`,
    { details: { path: file, line: number } },
  )
}
