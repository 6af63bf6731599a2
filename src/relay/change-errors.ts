import type { Behind } from '../contracts/turns/align.ts'
import type { Breach } from '../contracts/turns/breaches.ts'
import { diffTurns } from '../contracts/turns/turn-diff.ts'
import type { Turn } from '../contracts/turns/turn.ts'
import { HandoffError } from '../errors.ts'
import { bounded } from '../kernel/shown.ts'
import type { RelayFiles } from './files.ts'
import type { ChainedTurn } from './line.ts'
import type { RelayState } from './state.ts'

/** How many turns are shown, and how many lines of each text where there are several. */
const shownTurns = 20
const shownLines = 12

/** What was done to one turn, as the error tells it. */
interface Change {
  readonly change: Breach['what'] | 'missing'
  readonly path: string
  readonly number: string
  readonly agent: string
  readonly cid?: string
  readonly diff: readonly string[]
}

/** Returns the error for closed turns that are not what they were: it names the first and shows all, 20 at most. */
export function changedError(
  relay: string,
  files: RelayFiles,
  { chain }: RelayState,
  breaches: readonly Breach[],
): HandoffError {
  const most = breaches.length > 1 ? shownLines : undefined
  const changes = breaches.slice(0, shownTurns).map(({ what, file, place, now }): Change => {
    const old = place === undefined ? undefined : chain[place]
    const path = files[file]?.name ?? 'M8SHIFT.archive.md'
    return changeOf(what, path, old, now, most)
  })
  const [first] = changes
  const others = breaches.length - 1
  const more = others === 0 ? '' : ` (and ${others} more ${others === 1 ? 'change' : 'changes'})`
  const message = `${bounded(first!.path)}: ${told(first!)} was ${first!.change} since the import before${more}: nothing was imported; hstore turn export --relay gives back what was`
  return new HandoffError('HSTORE_RELAY_CHANGED', message, {
    details: { relay, ...first!, ...shown(changes, breaches.length) },
  })
}

/** Returns the error for a relay that lacks turns which were written into the store alone. */
export function behindError(
  relay: string,
  { living }: RelayFiles,
  { chain, isForked }: RelayState,
  { lacking, instead }: Behind,
): HandoffError {
  const most = lacking.length > 1 ? shownLines : undefined
  const changes = lacking
    .slice(0, shownTurns)
    .map((place) => changeOf('missing', living.name, chain[place], undefined, most))
  const others = lacking.length - 1
  const more = others === 0 ? '' : ` and ${others} more`
  const extra =
    instead.length === 0
      ? ''
      : `, and has ${turnText(instead[0]!)} instead${instead.length > 1 ? ` and ${instead.length - 1} more` : ''}`
  const message = `${bounded(living.name)}: lacks ${told(changes[0]!)}${more}, written into the store and not yet into the file${extra}: nothing was imported; ${wayOn(instead, lacking.length, isForked)}`
  return new HandoffError('HSTORE_RELAY_BEHIND', message, {
    details: { relay, ...changes[0]!, ...shown(changes, lacking.length) },
  })
}

/** A way that loses nothing: an export has not what stands in the place of what it has. */
function wayOn([first]: readonly Turn[], count: number, isForked: boolean): string {
  if (isForked) return 'put into the file what is shown'
  const exported = 'hstore turn export --relay NAME --out FILE'
  if (first !== undefined) {
    const them = count === 1 ? 'its block' : 'their blocks'
    return `${exported} gives a relay to copy ${them} from, into this file and before ${turnText(first)}, which must stay`
  }
  const same = count === 1 ? 'the same hstore turn append with --file writes it, or ' : ''
  return `${same}${exported} gives the relay of the last import with all of them`
}

function changeOf(
  change: Change['change'],
  path: string,
  old: ChainedTurn | undefined,
  now: Turn | undefined,
  most: number | undefined,
): Change {
  const { number, agent } = old?.turn ?? now!
  const cid = old?.entry.cid
  const diff = diffTurns(old?.turn.text, now?.text, most)
  return { change, path, number, agent, ...(cid && { cid }), diff }
}

/** Of one turn the difference stands alone, of several each below a line that names it. */
function shown(
  changes: readonly Change[],
  count: number,
): { diff: string[]; changes: readonly Change[]; more: number } {
  const more = count - changes.length
  const diff =
    count === 1
      ? [...changes[0]!.diff]
      : changes.flatMap((one) => [`${bounded(one.path)}: ${told(one)}: ${one.change}`, ...one.diff])
  return { diff: more > 0 ? [...diff, `and ${more} more`] : diff, changes, more }
}

function told({ number, agent, cid }: Pick<Change, 'agent' | 'cid' | 'number'>): string {
  return `turn ${bounded(number)} of ${bounded(agent)}${cid === undefined ? '' : ` (${cid})`}`
}

function turnText({ number, agent }: Turn): string {
  return told({ number, agent })
}
