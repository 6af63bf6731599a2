import type * as acts from './verbs/lane.ts'
import type * as looks from './verbs/lane-look.ts'
import type { VerbRow, VerbSpec } from './verb-spec.ts'

type ActName = keyof typeof acts
type LookName = keyof typeof looks

const lane: VerbRow = ['<lane>', 'what the lane is called in the store']
const now: VerbRow = [
  '--now <tick>',
  'whole seconds since 1970, within 300 of the clock (the clock)',
]
const offer: VerbRow = ['[offer]', 'the entry of the offer (the one that is open)']
const load = (name: ActName) => async () => (await import('./verbs/lane.ts'))[name]
const look = (name: LookName) => async () => (await import('./verbs/lane-look.ts'))[name]

/** `hstore lane` and the verbs within it. */
export const laneVerb: VerbSpec = {
  name: 'lane',
  group: 'Hand over',
  summary: 'Say who holds the pen, and hand it over',
  more: [
    "A lane has one owner and one epoch. It is handed over by HRC-001's rules: the owner offers, the addressee says that it can be reached and acknowledges exactly that offer, the owner commits. Each verb prints the CID of its entry, or HRC's status where the rules say no.",
    'Ends with 0 where the entry stands and counts, 3 for PENDING_…, 6 for BLOCKED_CAS_CONFLICT and for a lane that is contested or forked, 7 for BLOCKED_UNREAD_PREDECESSOR, 1 for all else that is blocked or refused. The same command again gives the entry that is there.',
  ],
  example: 'hstore lane propose docs --to csag:agent/agent-b --surface board:v2',
  verbs: [
    {
      name: 'open',
      summary: 'Open a lane; the acting agent is its owner',
      example: 'hstore lane open docs --as csag:agent/agent-a',
      args: [lane],
      options: [['--status <text>', 'its first status (ACTIVE)']],
      load: load('laneOpen'),
    },
    {
      name: 'status',
      summary: 'Give a lane another status',
      example: 'hstore lane status docs DONE',
      args: [lane, ['<text>', 'the status']],
      load: load('laneStatus'),
    },
    {
      name: 'propose',
      summary: 'Offer a lane to another agent',
      more: [
        'At most one offer is open. What is handed over has to be in the store, with every file that it promises.',
      ],
      example: 'hstore lane propose docs --to csag:agent/agent-b --surface board:v2',
      args: [lane],
      options: [
        ['--to <agent>', 'whom the lane is offered to'],
        ['--surface <surface>', 'where the owner can see whether the addressee is reachable'],
        ['--handoff <ref>', 'the envelope or turn that is handed over'],
      ],
      load: load('lanePropose'),
    },
    {
      name: 'withdraw',
      summary: 'Take an offer back',
      example: 'hstore lane withdraw docs',
      args: [lane, offer],
      load: load('laneWithdraw'),
    },
    {
      name: 'decline',
      summary: 'Refuse an offer, as its addressee',
      example: 'hstore lane decline docs --as csag:agent/agent-b',
      args: [lane, offer],
      load: load('laneDecline'),
    },
    {
      name: 'signal',
      summary: 'Say whether the acting agent can be reached, and for how long',
      example: 'hstore lane signal docs --surface board:v2 --status READY --for 600',
      args: [lane],
      options: [
        ['--surface <surface>', 'over what'],
        ['--status <status>', 'READY or UNAVAILABLE', ['READY', 'UNAVAILABLE']],
        ['--for <seconds>', 'how long that holds'],
        now,
      ],
      load: load('laneSignal'),
    },
    {
      name: 'ack',
      summary: 'Accept exactly one offer, as its addressee',
      more: ['The offer has to be read first: hstore lane read.'],
      example: 'hstore lane ack docs --as csag:agent/agent-b',
      args: [lane, offer],
      load: load('laneAck'),
    },
    {
      name: 'commit',
      summary: 'Complete a handoff: from here on the addressee holds the pen',
      example: 'hstore lane commit docs',
      args: [lane],
      options: [
        ['--signal <ref>', "the signal that it rests on (the addressee's latest)"],
        ['--ack <ref>', "the ack that it rests on (the addressee's)"],
        now,
      ],
      load: load('laneCommit'),
    },
    {
      name: 'join',
      summary: 'Join the heads of a lane and what a commit left behind',
      example: 'hstore lane join docs',
      args: [lane],
      options: [['--status <text>', 'the status that holds (where the heads agree, theirs)']],
      load: load('laneJoin'),
    },
    {
      name: 'takeover',
      summary: 'Give a lane to an agent, as one of the roots',
      more: [
        'Counts once as many roots as the roster asks for have said the same. Ends with 3 until then.',
      ],
      example: 'hstore lane takeover docs --to csag:agent/agent-b --reason opened-twice',
      args: [lane],
      options: [
        ['--to <agent>', 'who is to hold the pen'],
        ['--reason <text>', 'why'],
      ],
      load: load('laneTakeover'),
    },
    {
      name: 'read',
      summary: 'Print what the acting agent has not read of a lane, and count it as read',
      more: [
        'The one way to have read something: show and log count as nothing. Of what is written by the agent itself nothing is printed.',
      ],
      example: 'hstore lane read docs --as csag:agent/agent-b',
      args: [lane],
      load: look('laneRead'),
    },
    {
      name: 'show',
      summary: "Show how a lane stands, with HRC's answer on its offers now",
      example: 'hstore lane show docs',
      args: [lane],
      load: look('laneShow'),
    },
    {
      name: 'log',
      summary: 'List the entries of a lane, the last first',
      example: 'hstore lane log docs',
      args: [lane],
      options: [['-n <count>', 'list at most this many']],
      load: look('laneLog'),
    },
  ],
}

/** `hstore may-act`. */
export const mayActVerb: VerbSpec = {
  name: 'may-act',
  group: 'Check',
  summary: 'Ask whether an execution may still cause effects on its lane',
  more: [
    "An execution is bound to a lane, an owner and an epoch (ORC-001); once the lane was handed over it may cause no effect. Prints ORC-001's status and its detail, then who holds the pen and how old this store's last contact with a remote is. Needs no key. With --quiescent it is asked of all executions whether those that lost the ownership have ended.",
    'Ends with 0 for SIDE_EFFECT_ALLOWED and REVOCATION_QUIESCENT, 1 for BLOCKED_…, 3 for REVOCATION_PENDING_LIVE_EXECUTIONS, 6 for a lane that is contested, 2 for one that is not open and for a document that breaks its schema.',
  ],
  example: 'hstore may-act --execution run.json --parent root.json',
  options: [
    ['--execution <file>', 'the execution, or - for stdin'],
    ['--parent <file>', 'the execution that started it, or - for stdin'],
    ['--lane <lane>', 'the lane that the effect is on (the one that the execution is bound to)'],
    ['--quiescent <lane>', 'ask whether all that lost the ownership of this lane have ended'],
    [
      '--executions <file>',
      'with --quiescent: all known executions, a list or one a line, or - for stdin',
    ],
  ],
  load: async () => (await import('./verbs/may-act.ts')).mayAct,
}

/** `hstore inbox`. */
export const inboxVerb: VerbSpec = {
  name: 'inbox',
  group: 'Hand over',
  summary: 'Show what waits for an agent over all lanes and relays',
  more: [
    'Lists the offers to the acting agent, those that it has made, and the last turn on each relay that asks something of it and that it has not answered. Each state names the entry that it rests on: stored, seen (the addressee has signed a digest over what it read), acked, committed, done (the new owner has given the lane a status), or declined and withdrawn. Needs no key.',
    'Lanes that are contested or forked, and relays that are forked or can not be read, are told. Ends with 0, whether anything waits or not.',
  ],
  example: 'hstore inbox --as csag:agent/agent-b',
  load: async () => (await import('./verbs/inbox.ts')).inbox,
}
