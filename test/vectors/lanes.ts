import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HrcAck, HrcProposal, HrcSignal, HrcState } from '../../src/contracts/hrc/documents.ts'
import type { OrcExecution } from '../../src/contracts/hrc/executions.ts'
import { evaluateQuiescence, evaluateSideEffect } from '../../src/contracts/hrc/executions.ts'
import type { Context } from '../../src/context.ts'
import type { HrcFile } from '../../src/contracts/hrc/read-file.ts'
import { mayAct, quiescence } from '../../src/may-act/may-act.ts'
import { projectState } from '../../src/lanes/project.ts'
import { wholeView } from '../../src/lanes/state.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Draft } from '../src/lanes/lane-bench.ts'
import { ack, commit, LaneBench, offer, opening, signal, status } from '../src/lanes/lane-bench.ts'
import { agents, makeSharedFolder, makeTestStore } from '../support/store.ts'

interface Scenario {
  readonly id: string
  readonly kind: 'evaluate' | 'schema'
  readonly state: HrcState
  readonly proposal: HrcProposal
  readonly reachability: HrcSignal | null
  readonly ack: HrcAck | null
  readonly now_tick: number
  readonly expected: { readonly commit: string; readonly commit_detail: object }
}

type Step = { readonly state: HrcState; readonly expected: object } & (
  | {
      readonly evaluate: 'side_effect'
      readonly execution: OrcExecution
      readonly parent: OrcExecution | null
    }
  | { readonly evaluate: 'quiescence'; readonly executions: readonly OrcExecution[] }
)

/** Who plays whom; the scenarios begin at epoch 4, a lane at 1. */
const players: ReadonlyMap<string, string> = new Map([
  ['agent:ada', agents.a],
  ['agent:ben', agents.b],
  ['agent:cy', agents.merger],
])
const epochShift = 3

/** Runs the handed HRC and ORC scenarios through signed entries: ids and epochs are mapped, executions stay documents. */
export function describeLanes(folder: string): void {
  const read = (file: string): unknown =>
    JSON.parse(readFileSync(path.join(folder, 'hrc', file), 'utf8'))
  const scenarios = (read('scenarios.json') as Scenario[]).filter(({ kind }) => kind === 'evaluate')
  const { scenarios: orc } = read('orc_scenarios.json') as {
    scenarios: { id: string; steps: Step[] }[]
  }
  describe('scenarios through signed entries', () => {
    let bench: LaneBench
    beforeAll(async () => {
      bench = await LaneBench.open(await makeTestStore(await makeSharedFolder()))
    })
    afterAll(() => bench.close())
    it('are 20, and 10 with executions', () => {
      expect([scenarios.length, orc.length]).toEqual([20, 10])
    })
    it.each(scenarios)('$id', async (scenario) => {
      const played = await new Play(bench, scenario.id).play(scenario)
      expect(played).toEqual(scenario.expected)
    })
    it.each(orc)('$id', async ({ id, steps }) => {
      for (const [i, step] of steps.entries()) {
        const state = await new Play(bench, `${id}-${i}`).stateAs(step.state)
        expect(state).toEqual(step.state)
        const answer =
          step.evaluate === 'side_effect'
            ? evaluateSideEffect(state, step.execution, step.parent ?? undefined)
            : evaluateQuiescence(state, step.executions)
        expect(answer).toEqual(step.expected)
      }
    })
    it.each(orc)('$id, asked of the store', async ({ id, steps }) => {
      for (const [i, step] of steps.entries()) {
        const answer = await new Play(bench, `${id}-asked-${i}`).ask(step)
        expect(answer).toEqual(step.expected)
      }
    })
  })
}

/** A lane on which a scenario is played, and which entry is which event. */
class Play {
  readonly #bench: LaneBench
  readonly #name: string
  readonly #events = new Map<string, CidText>()

  constructor(bench: LaneBench, name: string) {
    this.#bench = bench
    this.#name = name
  }

  /** Plays a scenario up to where it is judged, and returns what it came to in the scenario's own words. */
  async play(scenario: Scenario): Promise<Scenario['expected']> {
    await this.#begin()
    const { proposal, expected } = scenario
    const answer =
      proposal.transition_kind === 'STATUS'
        ? await this.#step(scenario, this.#status(proposal))
        : await this.#handoff(scenario)
    const moved = answer.status === 'HANDOFF_COMMIT_ALLOWED'
    const { owner, epoch } = await this.#bench.shown(this.#name)
    expect([owner, epoch]).toEqual(moved ? [agents.b, 2] : [agents.a, 1])
    return { ...expected, commit: answer.status, commit_detail: answer.detail }
  }

  /** Returns the state of a lane that was brought to where a scenario has it, in the scenario's words. */
  async stateAs(wanted: HrcState): Promise<HrcState> {
    await this.#begin()
    if (wanted.ownership_epoch === 5) await this.#commitTo('ev-21')
    const { folding } = await this.#bench.lane(this.#name)
    const view = wholeView(folding)
    if (view?.standing !== 'held') throw new Error('nobody holds the pen')
    return this.#words(projectState(wanted.lane_id, view))
  }

  /** Returns what `may-act` says on a lane that was brought to where a step has it, in the scenario's words. */
  async ask(step: Step): Promise<object> {
    await this.stateAs(step.state)
    const open = (): Promise<Context> => Promise.resolve(this.#bench.context)
    const { status: answer, detail } =
      step.evaluate === 'side_effect'
        ? await mayAct(
            open,
            {
              lane: this.#lane(step.state.lane_id),
              execution: fileOf(this.#bound(step.execution)),
              parent: step.parent === null ? undefined : fileOf(this.#bound(step.parent)),
            },
            0,
          )
        : await quiescence(
            open,
            this.#name,
            fileOf(step.executions.map((one) => this.#bound(one))),
            0,
          )
    return { status: answer, detail: this.#words(detail) }
  }

  /** Returns an execution in the words of the lane. */
  #bound(execution: OrcExecution): OrcExecution {
    const { authority_lane_id, authority_owner_ref, authority_epoch } = execution
    return {
      ...execution,
      authority_lane_id: this.#lane(authority_lane_id),
      authority_owner_ref: players.get(authority_owner_ref) ?? authority_owner_ref,
      authority_epoch: authority_epoch - epochShift,
    }
  }

  /** Three nodes of the owner: ev-18, ev-19 and the head ev-20. */
  async #begin(): Promise<void> {
    const name = this.#name
    const first = await this.#bench.sign(agents.a, name, opening(name))
    const second = await this.#bench.sign(agents.a, name, status(name, first, 'ACTIVE'), {
      parents: [first],
    })
    const third = await this.#bench.sign(agents.a, name, status(name, second, 'ACTIVE'), {
      parents: [second],
    })
    this.#events.set('ev-18', first).set('ev-19', second).set('ev-20', third)
  }

  async #commitTo(event: string): Promise<void> {
    const head = this.#cid('ev-20')
    const name = this.#name
    const at = { parents: [head] }
    const made = await this.#bench.sign(agents.a, name, offer(name, head, agents.b), at)
    const by = await this.#bench.sign(agents.b, name, signal(name), at)
    const accepted = await this.#bench.sign(agents.b, name, ack(name, made, head), at)
    await this.#bench.sign(agents.a, name, commit(name, [made, by, accepted]), at)
    this.#events.set(event, made)
  }

  #cid(event: string): CidText {
    const known = this.#events.get(event)
    if (known !== undefined) return known
    // an event that is in no scenario's lane: any other entry
    return this.#events.get('ev-18')!
  }

  #lane(lane: string): string {
    return lane === 'lane-harbour' ? this.#name : lane
  }

  #base(proposal: HrcProposal) {
    return {
      lane_id: this.#lane(proposal.lane_id),
      writer_ownership_epoch: proposal.writer_ownership_epoch - epochShift,
      observed_through_event_id: this.#cid(proposal.observed_through_event_id),
      expected_predecessor_id: this.#cid(proposal.expected_predecessor_id),
    }
  }

  #status(proposal: HrcProposal): Draft {
    // an epoch of 0 is none of a lane's: the one before this one is any other
    const base = this.#base(proposal)
    const epoch = base.writer_ownership_epoch < 1 ? 9 : base.writer_ownership_epoch
    return {
      kind: 'lane-status',
      ...base,
      writer_ownership_epoch: epoch,
      next_status: proposal.next_status!,
    }
  }

  async #step({ proposal }: Scenario, draft: Draft): Promise<Answer> {
    const cid = await this.#bench.sign(players.get(proposal.writer_ref)!, this.#name, draft, {
      parents: [this.#cid(proposal.expected_predecessor_id)],
      through: [this.#cid(proposal.observed_through_event_id)],
    })
    this.#events.set(proposal.next_event_id, cid)
    const fault = await this.#fault(cid)
    if (fault !== undefined) return this.#claimed(proposal, fault)
    return {
      status: 'STATUS_TRANSITION_ALLOWED',
      detail: { next_event_id: proposal.next_event_id },
    }
  }

  /** Of what was not read an entry's projection claims nothing: the scenario's claim stands in its body. */
  #claimed({ observed_through_event_id }: HrcProposal, answer: Answer): Answer {
    if (answer.status !== 'BLOCKED_UNREAD_PREDECESSOR') return answer
    return { ...answer, detail: { ...answer.detail, observed_through_event_id } }
  }

  async #handoff({ proposal, reachability, ack: accepted, now_tick }: Scenario): Promise<Answer> {
    const head = this.#cid('ev-20')
    const made = await this.#bench.sign(
      agents.a,
      this.#name,
      {
        kind: 'proposal',
        ...this.#base(proposal),
        target_owner_ref: players.get(proposal.target_owner_ref!)!,
        target_ownership_epoch: proposal.target_ownership_epoch! - epochShift,
        reachability_surface_ref: proposal.reachability_surface_ref!,
      },
      { parents: [head] },
    )
    this.#events.set(proposal.next_event_id, made)
    const fault = await this.#fault(made)
    if (fault !== undefined) return fault
    const by = reachability === null ? undefined : await this.#signal(reachability)
    const taken = accepted === null ? undefined : await this.#ack(accepted)
    // a commit names a signal and an ack: where there is none, what is told of the offer has to say so
    if (
      by === undefined ||
      (taken === undefined && reachability?.participant_ref === 'agent:ben')
    ) {
      const told = await this.#told(now_tick)
      if (by === undefined || told.status === 'PENDING_RECIPIENT_ACK') return told
    }
    const ours =
      taken ??
      (await this.#bench.sign(agents.b, this.#name, ack(this.#name, made, head), {
        parents: [head],
      }))
    const node = await this.#bench.sign(
      agents.a,
      this.#name,
      commit(this.#name, [made, by, ours], 1, now_tick),
      { parents: [head] },
    )
    return (
      (await this.#fault(node)) ?? {
        status: 'HANDOFF_COMMIT_ALLOWED',
        detail: {
          new_owner_ref: 'agent:ben',
          new_ownership_epoch: 5,
          new_head_event_id: proposal.next_event_id,
        },
      }
    )
  }

  async #told(now: number): Promise<Answer> {
    const { offers } = await this.#bench.shown(this.#name, now)
    const { status: answer, detail } = offers[0]!
    return { status: answer, detail: this.#words(detail) }
  }

  async #signal(given: HrcSignal): Promise<CidText> {
    const cid = await this.#bench.sign(
      players.get(given.participant_ref)!,
      this.#name,
      {
        kind: 'signal',
        lane_id: this.#name,
        surface_ref: given.surface_ref,
        status: given.status,
        observed_at_tick: given.observed_at_tick,
        valid_until_tick: given.valid_until_tick,
      },
      { parents: [this.#cid('ev-20')] },
    )
    this.#events.set(given.signal_id, cid)
    return cid
  }

  async #ack(given: HrcAck): Promise<CidText> {
    const cid = await this.#bench.sign(
      players.get(given.recipient_ref)!,
      this.#name,
      {
        kind: 'ack',
        lane_id: this.#lane(given.lane_id),
        accepted_handoff_event_id: this.#cid(given.accepted_handoff_event_id),
        accepted_ownership_epoch: given.accepted_ownership_epoch - epochShift,
        observed_predecessor_id: this.#cid(given.observed_predecessor_id),
      },
      { parents: [this.#cid('ev-20')] },
    )
    this.#events.set(given.ack_id, cid)
    return cid
  }

  async #fault(cid: CidText): Promise<Answer | undefined> {
    const { folding } = await this.#bench.lane(this.#name)
    const fault = folding.faults.get(cid)
    if (fault === undefined) return undefined
    return { status: fault.code, detail: this.#words(fault.detail) }
  }

  /** Returns a document in the scenario's words. */
  #words<T extends object>(document: T): T {
    const names = new Map<unknown, unknown>([
      ...[...this.#events].map(([event, cid]) => [cid, event] as const),
      ...[...players].map(([player, agent]) => [agent, player] as const),
    ])
    const told = Object.entries(document).map(([key, value]) => {
      if (key.endsWith('epoch')) return [key, (value as number) + epochShift]
      return [key, names.get(value) ?? value]
    })
    return Object.fromEntries(told) as T
  }
}

interface Answer {
  readonly status: string
  readonly detail: object
}

function fileOf(document: object): HrcFile {
  return { name: 'x.json', bytes: Buffer.from(JSON.stringify(document)) }
}
