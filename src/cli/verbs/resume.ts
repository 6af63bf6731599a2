import path from 'node:path'
import type { RelaySteps, ToldTurn } from '../../relay/steps.ts'
import type { ResumeJson } from '../../reports.ts'
import type { Verb } from '../program.ts'
import { findingLine, jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

/** Lines of an ask's body that are shown. */
const shownLines = 40

/** `hstore resume`: the gate's verdict, and what to do next. */
export const resume: Verb = async (io, [ref = ''], options) => {
  await using store = await openNamed(io, options)
  io.readsHistory?.()
  const { exit, ...report } = await store.resume(ref, {
    acceptShallow: options['acceptShallow'] as readonly string[] | undefined,
    now: Math.floor(Date.now() / 1000),
    full: options['full'] === true,
    certificate: options['certificate'] !== false,
    out: typeof options['out'] === 'string' ? path.resolve(io.cwd, options['out']) : undefined,
  })
  await io.out(options.json === true ? jsonLine('resume', report) : text(report))
  return exit
}

function text(report: Omit<ResumeJson, 'exit'>): string {
  const lines = [
    `verdict: ${report.verdict}`,
    `entry:   ${report.entry}`,
    ...(report.revision === null
      ? []
      : [`of:      ${report.revision} by ${report.author}, ${report.stream}`]),
    `for:     ${report.agent}`,
    `history: ${report.history}`,
    ...report.checks.map(({ name, result }) => `check:   ${name} ${result}`),
    ...report.notMade.map((name) => `no check: ${name}`),
    ...report.findings.map(findingLine),
    ...report.missing.map((name) => `missing: ${name}`),
    ...(report.certificate === null ? [] : [`certificate: ${report.certificate}`]),
    ...(report.out === null ? [] : [`bundle:  ${report.out}`]),
    ...steps(report),
  ]
  return `${lines.map(plain).join('\n')}\n`
}

/** What a peer wrote is shown as data, with its author. */
function steps(report: Omit<ResumeJson, 'exit'>): string[] {
  const { verdict, actions, conflicts, agent, relay } = report
  if (verdict !== 'complete' && verdict !== 'partial')
    return ['next: do not go on from this entry; hstore verify says more']
  if (relay !== null) return relayLines(relay, agent)
  return [
    ...actions.flatMap((action) => [
      `next: ${action.id} (${action.action_status}, ${action.action_type}) asked by ${action.created_by}: ${action.description}`,
      ...action.acceptance_criteria.map((criterion) => `      - ${criterion}`),
    ]),
    ...conflicts.map(
      (conflict) =>
        `open conflict: ${conflict.id} by ${conflict.created_by}: ${conflict.description} (${conflict.competing_heads.join(', ')})`,
    ),
    ...(actions.length + conflicts.length === 0 ? [`next: nothing is open for ${agent}`] : []),
  ]
}

function relayLines({ head, ask, evidence }: RelaySteps, agent: string): string[] {
  const body = ask?.body === '' ? [] : (ask?.body.split('\n') ?? [])
  return [
    `head:    ${turnText(head)}`,
    ...evidence.map((wanted) => `evidence wanted by ${turnText(wanted)}: ${wanted.requires}`),
    ...(ask === null || ask.isAnswered
      ? [`next: nothing is open for ${agent}`]
      : [
          `next: ${turnText(ask)} asks: ${ask.ask === '' ? 'nothing in words' : ask.ask}`,
          ...body.slice(0, shownLines).map((line) => `      | ${line}`),
          ...(body.length > shownLines ? [`      (more: hstore show ${ask.cid})`] : []),
        ]),
  ]
}

function turnText({ number, agent, to, witness }: ToldTurn): string {
  return `turn ${number} of ${agent} to ${to}${witness ? ' (witness)' : ''}`
}
