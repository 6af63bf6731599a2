import { csagRules } from './csag-rules.ts'
import { hstoreRules } from './hstore-rules.ts'
import type { Rule } from './rule.ts'

/** All rules in order: text, JSON, docs/findings.md and the tests read this one table. */
export const rules: readonly Rule[] = [...csagRules, ...hstoreRules]

const byCode = new Map(rules.map((rule) => [rule.code, rule]))

/** Returns the rule of a finding's code, or undefined when the table has none. */
export function findRule(code: string): Rule | undefined {
  return byCode.get(code)
}
