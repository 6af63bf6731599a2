import { HandoffError } from '../../errors.ts'
import type { LaneEntryRead } from '../../lanes/reading.ts'
import type { ShownLane, ShownOffer } from '../../lanes/shown.ts'
import { exits } from '../exit-codes.ts'
import type { Verb } from '../program.ts'
import { escaped, jsonLine, plain } from '../render.ts'
import { countOf, openNamed } from '../settings.ts'

/** `hstore lane read`: what the agent has not read, counted as read once it is printed. */
export const laneRead: Verb = async (io, [lane = ''], options) => {
  await using store = await openNamed(io, options)
  await store.lanes.read(lane, store.agent, async (reading) => {
    await io.out(
      options.json === true
        ? jsonLine('lane-read', reading)
        : reading.entries.map((entry) => `${entryText(entry)}\n`).join(''),
    )
    if (io.isCutOff?.() !== true) return
    const why = 'standard output was closed before all was printed: nothing counts as read'
    throw new HandoffError('HSTORE_OUTPUT_UNWRITABLE', why)
  })
  return exits.ok
}

/** `hstore lane show`: how a lane stands now. */
export const laneShow: Verb = async (io, [lane = ''], options) => {
  await using store = await openNamed(io, options)
  const shown = await store.lanes.show(lane, Math.floor(Date.now() / 1000))
  if (shown === undefined) {
    throw new HandoffError(
      'HSTORE_REF_NOT_FOUND',
      `${JSON.stringify(lane)}: no lane of that name is open in the store`,
    )
  }
  await io.out(options.json === true ? jsonLine('lane-show', shown) : laneText(shown))
  return shown.contested === null ? exits.ok : exits.conflict
}

/** `hstore lane log`: the entries of a lane, the last first. */
export const laneLog: Verb = async (io, [lane = ''], options) => {
  const most = countOf(options['n'])
  await using store = await openNamed(io, options)
  const entries = (await store.lanes.log(lane)).slice(0, most)
  if (options.json === true) await io.out(jsonLine('lane-log', { lane, entries }))
  else await io.out(entries.map((entry) => `${logLine(entry)}\n`).join(''))
  return exits.ok
}

function entryText(entry: LaneEntryRead): string {
  return `${logLine(entry)}\n  ${escaped(JSON.stringify(entry.body))}`
}

function logLine({ cid, kind, author, problem }: LaneEntryRead): string {
  const counts = problem === null ? '' : ` (does not count: ${problem})`
  return plain(`${cid} ${kind} by ${author}${counts}`)
}

function laneText(shown: ShownLane): string {
  const { lane, owner, epoch, status, heads, branches, offers, contested, voidCommits, faults } =
    shown
  const lines = [
    `lane:   ${lane}`,
    `owner:  ${owner ?? 'nobody'}`,
    `epoch:  ${epoch}`,
    ...(status === null ? [] : [`status: ${status}`]),
    ...(contested === null
      ? []
      : [
          `contested: two ${contested.why} of epoch ${contested.epoch}: ${contested.cids.join(', ')}`,
        ]),
    ...heads.map((head) => `head:   ${head.event} ${head.status}`),
    ...(heads.length < 2
      ? []
      : [`forked: ${heads.length} heads; the owner joins them with hstore lane join`]),
    ...branches.map((head) => `branch: ${head.event} ${head.status} (left behind, can be joined)`),
    ...offers.map(offerText),
    ...voidCommits.map(
      (cid) =>
        `open again: ${cid} closed epoch ${epoch}, and does not count; a commit of another offer would be an equivocation, so the roots take the lane over`,
    ),
    ...faults.map(({ cid, code, why }) => `does not count: ${cid} ${code}: it ${why}`),
  ]
  return `${lines.map(plain).join('\n')}\n`
}

function offerText({ cid, to, epoch, ends, status, handoff }: ShownOffer): string {
  const state = ends.length > 0 ? `ended by ${ends.join(', ')}` : status
  const what = handoff === null ? '' : ` with ${handoff}`
  return `offer:  ${cid} to ${to} for epoch ${epoch}${what}: ${state}`
}
