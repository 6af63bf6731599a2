import type { InboxTurn } from '../../inbox/asks.ts'
import type { Inbox, InboxTrouble } from '../../inbox/inbox.ts'
import type { InboxOffer } from '../../inbox/offers.ts'
import type { Verb } from '../program.ts'
import { exits } from '../exit-codes.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

/** `hstore inbox`: what waits for the agent over all lanes and relays. */
export const inbox: Verb = async (io, _args, options) => {
  await using store = await openNamed(io, options)
  const found = await store.inbox(Math.floor(Date.now() / 1000))
  if (options.json === true) {
    await io.out(jsonLine('inbox', found))
    return exits.ok
  }
  await io.out(
    linesOf(found)
      .map((line) => `${plain(line)}\n`)
      .join(''),
  )
  if (found.waiting === 0) io.err(`hstore: nothing waits for ${plain(found.agent)}\n`)
  return exits.ok
}

function linesOf({ agent, received, made, turns, troubles }: Inbox): readonly string[] {
  return [
    ...received.flatMap((offer) => offerLines(offer, agent)),
    ...made.flatMap((offer) => offerLines(offer, agent)),
    ...turns.flatMap(turnLines),
    ...troubles.map(troubleLine),
  ]
}

function offerLines(offer: InboxOffer, agent: string): readonly string[] {
  const { lane, from, to, epoch, handoff, states, answer, waitsFor } = offer
  const whom = to === agent ? `from ${from}` : `to ${to}`
  const waits = waitsFor === null ? '' : `, waits for ${waitsFor === agent ? 'you' : waitsFor}`
  return [
    `offer of ${lane} ${whom} for epoch ${epoch}${waits}`,
    ...(handoff === null ? [] : [`  hands over ${handoff}`]),
    ...states.map(stateLine),
    ...(answer === null ? [] : [`  now       ${answer.status}`]),
  ]
}

function turnLines({ relay, number, agent, ask, witness, problem, states }: InboxTurn) {
  const who = witness ? `${agent}, as a witness has it,` : agent
  return [
    `turn ${number} of ${relay} from ${who} waits for you${ask === '' ? '' : `: ${ask}`}`,
    ...states.map(stateLine),
    ...(problem === null ? [] : [`  does not count: ${problem}`]),
  ]
}

function stateLine({ state, cid }: { readonly state: string; readonly cid: string }): string {
  return `  ${state.padEnd(9)} ${cid}`
}

function troubleLine({ stream, trouble, why, cids }: InboxTrouble): string {
  return `${trouble}: ${stream}: ${why}${cids.length === 0 ? '' : ` (${cids.join(' ')})`}`
}
