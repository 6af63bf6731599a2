import type { JsonForm } from '../../../store/canonical.ts'
import { readRelay } from './markdown.ts'
import type { Turn } from './turn.ts'

/** Returns the body of a turn, in canonical form. */
export function turnForm({ agent, folded, number, text }: Turn): { [key: string]: JsonForm } {
  return { agent, folded, number, text }
}

/** Returns the turn that a body holds: what M8Shift reads out of its text, and nothing else; undefined when it holds none. */
export function findTurn(form: { readonly [key: string]: JsonForm }): Turn | undefined {
  const { agent, folded, number, text } = form as Record<string, JsonForm>
  if (typeof text !== 'string' || Object.keys(form).length !== 4) return undefined
  const { segments, turns } = readRelay(new TextEncoder().encode(text))
  const [found] = turns
  if (found === undefined || segments.length !== 1) return undefined
  const { turn } = found
  const isSame =
    turn.agent === agent && turn.number === number && turn.folded === folded && turn.text === text
  return isSame ? turn : undefined
}
