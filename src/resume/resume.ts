import type { Signer } from '../../keys/signer.ts'
import { HashedBlock } from '../../store/block.ts'
import { encodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { RowChange } from '../../store/commit.ts'
import type { HandoffAction, HandoffConflict } from '../contracts/csag/document.ts'
import type { Context } from '../context.ts'
import type { VerifiedEntry } from '../entry/entry.ts'
import { HandoffError } from '../errors.ts'
import { layOut } from '../bundle/lay-out.ts'
import type { MarkWhat } from '../marks.ts'
import { append, assertRight } from '../put/append.ts'
import type { RelaySteps } from '../relay/steps.ts'
import { relaySteps } from '../relay/steps.ts'
import { sortedNames } from '../put/plan.ts'
import { certificateForm } from '../graph/certificate.ts'
import { freezesSeen } from './coverage.ts'
import type { GateOptions, Judgement } from './gate.ts'
import { judge } from './gate.ts'
import { nextSteps } from './next-steps.ts'

/** How a resume is asked. */
export interface ResumeOptions extends GateOptions {
  /** Sign a certificate when the gate opens; needs the signer. */
  readonly certify: boolean
  /** Where to lay the bundle out; nothing is laid out when the gate stays shut. */
  readonly out: string | undefined
}

/** What the gate says to an agent, and what it is to do next. */
export interface ResumeReport extends Judgement {
  /** `shallow` when names were accepted or found whose entry is not here. */
  readonly history: 'full' | 'shallow'
  /** The agent's own unfinished actions. */
  readonly actions: readonly HandoffAction[]
  readonly conflicts: readonly HandoffConflict[]
  /** Where a relay stands for the agent; undefined for what is none, and where the gate stays shut. */
  readonly relay: RelaySteps | undefined
  /** Names and CIDs that are not in the store. */
  readonly missing: readonly string[]
  /** The certificate's entry; undefined when none was signed. */
  readonly certificate: CidText | undefined
  /** The folder of the bundle; undefined when none was laid out. */
  readonly out: string | undefined
}

/**
 * Judges an entry for an agent that wants to go on from it; where the gate opens (`complete`, `partial`), lays out the
 * bundle, signs a certificate and marks what was verified.
 *
 * @throws {HandoffError} `HSTORE_USAGE` when the entry carries no work; what `layOut` throws for `out`, before anything is signed.
 */
export async function resume(
  context: Context,
  head: CidText,
  options: ResumeOptions,
): Promise<ResumeReport> {
  assertMayCertify(context, options)
  const judgement = await judge(context, head, options)
  const { verdict, entry, shallow, graph } = judgement
  if (entry !== undefined && !workKinds.has(entry.kind)) throw noWork(entry)
  const lost = graph.damage.filter(({ code }) => code === 'HS1001' || code === 'HS5001')
  const isOpen = verdict === 'complete' || verdict === 'partial'
  return {
    ...judgement,
    ...(isOpen && entry !== undefined ? await open(context, judgement, entry, options) : shut),
    history: shallow.length > 0 ? 'shallow' : 'full',
    missing: sortedNames([...shallow, ...lost.map(({ cid }) => cid ?? '')]),
  }
}

type Opened = Pick<ResumeReport, 'actions' | 'certificate' | 'conflicts' | 'out' | 'relay'>

const shut: Opened = {
  actions: [],
  certificate: undefined,
  conflicts: [],
  out: undefined,
  relay: undefined,
}

/** The kinds of entry that work is resumed from. */
const workKinds: ReadonlySet<string> = new Set([
  'envelope',
  'turn',
  'lane-open',
  'lane-status',
  'lane-commit',
  'lane-join',
  'lane-takeover',
])

/** What follows from an open gate. The certificate comes last: it says what was done. */
async function open(
  context: Context,
  judgement: Judgement,
  entry: VerifiedEntry,
  options: ResumeOptions,
): Promise<Opened> {
  const steps = await nextSteps(context, entry, options.agent)
  const relay = await relaySteps(context, entry, options.agent)
  const laid = options.out === undefined ? undefined : await layOut(context, entry, options.out)
  const certificate = options.certify ? await certify(context, judgement, options) : undefined
  return { ...steps, certificate, out: laid?.folder, relay }
}

function assertMayCertify(context: Context, { agent, certify, signer }: ResumeOptions): void {
  // of two rosters that stand against each other the gate tells, and it does not open
  if (signer === undefined || !certify || context.trust.fork.length > 0) return
  const stream = `log:${signer.did}`
  assertRight(context, { author: agent, kind: 'certificate', stream }, signer)
}

function noWork({ cid, kind }: VerifiedEntry): HandoffError {
  return new HandoffError(
    'HSTORE_USAGE',
    `${cid} is a ${kind}: work is resumed from an envelope, a turn or a node of a lane; hstore verify checks any entry`,
    { details: { cid } },
  )
}

async function certify(
  context: Context,
  judgement: Judgement,
  { agent, signer }: GateOptions,
): Promise<CidText | undefined> {
  if (signer === undefined) return undefined
  const { head, checks, shallow, verdict } = judgement
  const body = encodeForm(
    certificateForm({
      agent,
      checks,
      freezes: freezesSeen(context),
      heads: [head],
      level: levelOf(context, signer),
      roster: context.trust.rosterBody,
      shallow,
      verdict,
    }),
  )
  const { entry } = await append(context, certificateDraft(agent, signer, head, body), signer)
  // each mark holds by itself, so a stop between two batches does no harm
  for (const rows of coveredRows(context, judgement, signer))
    await context.db.commit({ blocks: [], rows })
  return entry.cid
}

/** A key that the roster has as `file` is never shown as more. */
function levelOf({ trust }: Context, { did, level }: Signer): Signer['level'] {
  return trust.findKey(did)?.key.level === 'agent' ? level : 'file'
}

function certificateDraft(agent: string, signer: Signer, head: CidText, body: Uint8Array) {
  return {
    kind: 'certificate',
    stream: `log:${signer.did}`,
    author: agent,
    body: HashedBlock.of(body, 'dag-json'),
    name: undefined,
    parentNames: [],
    parents: [],
    shallow: [],
    refs: [head],
    artifacts: undefined,
    source: undefined,
    witness: false,
    blocks: [],
  }
}

/** Rows of marks that are made and written at once, at most. */
const rowBatch = 8192

/** Only a whole history without a blemish is covered: what was short or odd has to be seen again each time. */
function* coveredRows(
  context: Context,
  { graph, namesakes, shallow, verdict, findings }: Judgement,
  { did }: Signer,
): Generator<readonly RowChange[]> {
  const isWhole =
    verdict === 'complete' &&
    shallow.length === 0 &&
    // what stands beside the rosters says nothing of this history
    !findings.some(({ code, severity }) => severity === 'warning' && code !== 'HS2011')
  const scope = `${did}:${context.trust.rosterBody}` as const
  const covered: MarkWhat[] = isWhole ? ['signature', `certified:${scope}`] : ['signature']
  const beside = isWhole ? namesakes.filter(({ cid }) => !graph.entries.has(cid)) : []
  let rows: RowChange[] = []
  for (const [entries, marks] of [
    [graph.entries.values(), covered],
    [beside, ['signature', `seen:${scope}`]],
  ] as const) {
    for (const { cid } of entries) {
      const values = context.marks.rowWith(cid, marks)
      if (values !== undefined) rows.push({ index: 'marks', key: cid, values })
      if (rows.length < rowBatch) continue
      yield rows
      rows = []
    }
  }
  if (rows.length > 0) yield rows
}
