import { csagRules } from './csag-rules.ts'
import { hrcRules } from './hrc-rules.ts'
import { hstoreRules } from './hstore-rules.ts'
import { laneRules } from './lane-rules.ts'
import type { Rule } from './rule.ts'
import { turnRules } from './turn-rules.ts'

/** All rules in order: text, JSON, docs/findings.md and the tests read this one table. */
export const rules: readonly Rule[] = [
  ...csagRules,
  ...hstoreRules,
  ...turnRules,
  ...hrcRules,
  ...laneRules,
]
