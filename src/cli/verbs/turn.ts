import type { PeekedTurn } from '../../contracts/turns/peek.ts'
import { peekTurn } from '../../contracts/turns/peek.ts'
import type { TurnFinding } from '../../contracts/turns/rules.ts'
import type { TurnReport, TurnRules } from '../../contracts/turns/validate.ts'
import { validateTurns } from '../../contracts/turns/validate.ts'
import type { Severity } from '../../rules/rule.ts'
import { exits } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { readArchive, readRelayFile, relayName, relayOf } from '../relay-files.ts'
import { escaped, jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

/** How many findings are printed in one piece. */
const atOnce = 1000
const severities: readonly string[] = ['info', 'warning', 'error']

/** `hstore turn validate`: upstream's verdict on a relay's contracts, its report and exit code. */
export const turnValidate: Verb = async (io, [file], options) => {
  const severityMin = (options['severityMin'] as string | undefined) ?? 'info'
  if (!severities.includes(severityMin)) {
    throw new UsageError(`--severity-min is one of ${severities.join(', ')}`)
  }
  const strict = options['strict'] === true
  const rules = { strict, severityMin: severityMin as Severity }
  const report = await reportOn(io, file, rules, options)
  if (options.json === true) await printJson(io, report)
  else await tell(io, report)
  return strict && !report.ok ? exits.no : exits.ok
}

async function reportOn(
  io: Io,
  file: string | undefined,
  rules: TurnRules,
  options: Parameters<Verb>[2],
): Promise<TurnReport> {
  const named = options['archive'] as string | undefined
  const isAll = options['all'] === true
  if (options['relay'] === undefined) {
    const living = await readRelayFile(io, file ?? relayName)
    return validateTurns(living, await readArchive(io, file ?? relayName, named, isAll), rules)
  }
  if (file !== undefined || named !== undefined) {
    throw new UsageError('--relay judges what the store has: name no file beside it')
  }
  await using store = await openNamed(io, options)
  const report = await store.turns.validate(relayOf(options), rules, isAll)
  return report
}

/** `hstore turn peek`: the handoff that waits for an agent, as upstream prints it. */
export const turnPeek: Verb = async (io, [agent = ''], options) => {
  const file = (options['file'] as string | undefined) ?? relayName
  const peeked = peekTurn(await readRelayFile(io, file), agent)
  if (options.json === true) await io.out(jsonLine('turn', peeked))
  else if (peeked.turn === null) await io.out(`(no handoff addressed to ${agent} yet)\n`)
  else await io.out(turnText(peeked.turn))
  return peeked.ready ? exits.ok : exits.pending
}

/** One object on one line; a relay may hold more findings than one text can. */
async function printJson(io: Io, { findings, ...rest }: TurnReport): Promise<void> {
  await io.out('{"findings":[')
  for (let i = 0; i < findings.length; i += atOnce) {
    const list = findings
      .slice(i, i + atOnce)
      .map(findingJson)
      .join(',')
    await io.out(escaped(i === 0 ? list : `,${list}`))
  }
  await io.out(`],${escaped(JSON.stringify(rest)).slice(1)}\n`)
}

/** A number that JavaScript does not have stands in the JSON all the same: no other member begins with NUL. */
function findingJson(finding: TurnFinding): string {
  const text = JSON.stringify(finding, (_, value: unknown) =>
    typeof value === 'bigint' ? `\0${value}` : value,
  )
  return text.replaceAll(/"\\u0000(\d+)"/g, '$1')
}

async function tell(io: Io, { findings, ok, advisories, strict }: TurnReport): Promise<void> {
  for (let i = 0; i < findings.length; i += atOnce) {
    const lines = findings.slice(i, i + atOnce).map((finding) => `${findingText(finding)}\n`)
    await io.out(lines.join(''))
  }
  await io.out(ok ? 'ok\n' : 'not ok\n')
  for (const { code, message } of advisories) io.err(`hstore: ${code}: ${plain(message)}\n`)
  if (!ok && !strict) io.err('hstore: the exit code is 0, as upstream has it without --strict\n')
}

function findingText({ severity, check, agent, message, fix_hint }: TurnFinding): string {
  const hint = fix_hint === undefined ? '' : `: ${fix_hint}`
  return plain(`${severity} ${check} ${message} (by ${agent})${hint}`)
}

function turnText({ fields, body }: PeekedTurn): string {
  const lines = fields.map(({ key, value }) => `${key}=${shown(value)}\n`).join('')
  return body === '' ? lines : `${lines}\n${body.split('\n').map(shown).join('\n')}\n`
}

/** Escaped but for tabs and the zero width space by which M8Shift disarms its markers. */
function shown(line: string): string {
  return line
    .split(/([\t\u200b])/)
    .map((part, i) => (i % 2 === 1 ? part : plain(part)))
    .join('')
}
