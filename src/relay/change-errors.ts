import type { Behind, Broken } from '../contracts/turns/align.ts'
import { nextNumber } from '../contracts/turns/append.ts'
import type { Breach } from '../contracts/turns/breaches.ts'
import { findLock } from '../contracts/turns/lock.ts'
import { readRelay } from '../contracts/turns/markdown.ts'
import { diffTurns } from '../contracts/turns/turn-diff.ts'
import type { Turn } from '../contracts/turns/turn.ts'
import type { RelayFile } from '../contracts/turns/validate.ts'
import { HandoffError } from '../errors.ts'
import { bounded } from '../kernel/shown.ts'
import { filePlaces } from './file-places.ts'
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
  { chain, places }: RelayState,
  { breaches, isUnseen }: Broken,
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
  const what = isUnseen
    ? `is ${first!.change}, held against the order of the store`
    : `was ${first!.change} since the import before`
  const way = isUnseen
    ? `see to it that ${inOrder}`
    : places.length === chain.length
      ? 'hstore turn export --relay gives back what was, without what is new since'
      : 'hstore get CID prints what a turn was as its text'
  const message = `${bounded(first!.path)}: ${told(first!)} ${what}${more}: nothing was imported; ${way}`
  return new HandoffError('HSTORE_RELAY_CHANGED', message, {
    details: { relay, ...first!, ...shown(changes, breaches.length) },
  })
}

/** Returns the error for a relay that lacks turns which no file was seen to have. */
export function behindError(
  relay: string,
  { living }: RelayFiles,
  state: RelayState,
  behind: Behind,
): HandoffError {
  const { chain } = state
  const { lacking, next, others } = behind
  const most = lacking.length > 1 ? shownLines : undefined
  const changes = lacking
    .slice(0, shownTurns)
    .map((place) => changeOf('missing', living.name, chain[place], undefined, most))
  const more = lacking.length === 1 ? '' : ` and ${lacking.length - 1} more`
  const other = behind.isMixed ? others[0] : others.find((turn) => turn === next)
  const instead = other === undefined ? '' : insteadOf(changes[0]!, other)
  const message = `${bounded(living.name)}: lacks ${told(changes[0]!)}${more}, in the store and not yet in the file${instead}: nothing was imported; ${wayOn(living, state, behind)}`
  return new HandoffError('HSTORE_RELAY_BEHIND', message, {
    details: { relay, ...changes[0]!, ...shown(changes, lacking.length) },
  })
}

function insteadOf({ number, agent }: Change, next: Turn): string {
  const isEdited = next.number === number && next.agent === agent
  return `, and has ${turnText(next)} in its place${isEdited ? ' (another turn, or this one edited)' : ''}`
}

/** Ways that lose nothing, none of which needs what is shown to be whole. */
function wayOn(living: RelayFile, state: RelayState, behind: Behind): string {
  const { isMixed, lacking, next, others } = behind
  const from = sourceOf(state, lacking)
  if (isMixed) return `copy them into it from ${from}, so that ${inOrder}`
  const blocks = lacking.length === 1 ? 'its block' : 'their blocks, in order,'
  const where =
    next === undefined ? 'behind its last turn' : `before ${turnText(next)}, which must stay`
  const isAtEnd = next === undefined && others.length === 0 && !state.isForked
  const again = isAtEnd ? againWay(living, state, lacking) : ''
  return `${again}copy ${blocks} into the file ${where}, from ${from}`
}

/** Returns where whole turns can be copied from: an export has those that a note has placed in the relay. */
function sourceOf(state: RelayState, lacking: readonly number[]): string {
  const { chain, places } = state
  const archived = new Set(filePlaces(state).archive)
  const noted = new Set(places)
  const isExported = lacking.every((place) => noted.has(place) && !archived.has(place))
  if (isExported) return 'the relay that hstore turn export --relay NAME --out FILE gives'
  const [place] = lacking
  const cid = lacking.length === 1 ? chain[place!]!.entry.cid : 'CID'
  const each = lacking.length === 1 ? '' : ', for the CID of each'
  return `what hstore get ${cid} prints as its text${each}`
}

/** The same call writes a turn that is the next by number, for who holds the pen. */
function againWay(
  { bytes, name }: RelayFile,
  state: RelayState,
  lacking: readonly number[],
): string {
  const [place] = lacking
  if (place === undefined || lacking.length > 1 || !state.made.has(place)) return ''
  const { entry, turn } = state.chain[place]!
  const lock = findLock(readRelay(bytes), name)
  if (lock === undefined || entry.witness || nextNumber(lock) !== turn.number) return ''
  const isHeld = lock.state === `WORKING_${turn.agent.toUpperCase()}`
  const pen = isHeld ? '' : `once ${bounded(turn.agent)} holds the pen, `
  return `${pen}the same hstore turn append with --file writes it, or `
}

const inOrder =
  'the turns of the store stand as it has them (hstore turn log, the last first) and all others behind them'

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
