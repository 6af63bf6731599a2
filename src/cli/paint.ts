import { styleText } from 'node:util'
import type { Io } from './io.ts'

const styles = {
  added: 'green',
  changed: 'cyan',
  cid: 'yellow',
  dropped: 'red',
  heading: 'bold',
  warning: 'red',
} as const

/** Gives text the colour of what it is. A colour says nothing that the words do not. */
export type Paint = (style: keyof typeof styles, text: string) => string

/**
 * Returns how text is coloured: on a terminal that is not dumb, unless NO_COLOR says otherwise.
 *
 * @see https://no-color.org
 */
export function paintOf({ terminal, env }: Io): Paint {
  const isPlain = terminal === undefined || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb'
  return isPlain
    ? (_style, text) => text
    : (style, text) => styleText(styles[style], text, { validateStream: false })
}
