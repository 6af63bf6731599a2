import type { Finding, Rule, Severity } from './rule.ts'
import { hrcRules } from './hrc-rules.ts'

/**
 * What hstore asks of the entries of a lane besides HRC-001. An entry that breaks one of these, or one of HRC's rules,
 * changes nothing.
 *
 * @see docs/lanes.md
 */
export const laneRules: readonly Rule[] = [
  row('HS4401', 'The refs of a lane entry are not those that its body names'),
  row('HS4402', 'A lane entry hangs on other nodes than its body says, or on none that counts'),
  row('HS4403', 'What an agent says it has read does not fit the blocks'),
  row('HS4404', 'An offer is made while another is open'),
  row('HS4405', 'A commit or an ack is for an offer that has ended, or stands beside another'),
  row('HS4406', "A commit's tick is below that of a commit before it"),
  row('HS4407', 'A lane has two openings, or two takeovers of one epoch'),
  row('HS4408', 'A takeover waits for more roots', 'info'),
  row('HS4409', 'A lane entry names as offer, signal or ack what is none, or is not there'),
]

const byCode = new Map([...hrcRules, ...laneRules].map((rule) => [rule.code, rule]))

/** Returns a finding of HRC's or one of hstore's own about lanes; undefined for the code of another table. */
export function findLaneFinding(code: string, message: string, cid: string): Finding | undefined {
  const rule = byCode.get(code)
  return rule && { code, severity: rule.severity, message, cid }
}

function row(code: string, title: string, severity: Severity = 'error'): Rule {
  return { code, severity, title, where: 'hrc' }
}
