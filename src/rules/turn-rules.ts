import type { Rule, Severity } from './rule.ts'

/**
 * The stage-4 contract of M8Shift turns under upstream's names, then what hstore sees in a relay and upstream passes
 * over.
 *
 * @see docs/findings.md
 */
export const turnRules: readonly Rule[] = [
  row('contract.schema_missing', 'warning', 'A turn has contract fields and no schema'),
  row('contract.schema_unknown', 'error', 'The schema of a turn is not `stage4.v1`'),
  row('contract.field_empty', 'warning', 'A contract field has no value'),
  row('contract.relation_missing', 'warning', 'A turn under contract has no relation'),
  row('contract.relation_invalid', 'error', 'The relation of a turn is none of the four'),
  row(
    'contract.review_request_incomplete',
    'warning',
    'A review_request lacks role_to, requires or expected_output',
  ),
  row('contract.decision_missing', 'warning', 'A review_result has no decision'),
  row('contract.decision_invalid', 'error', 'The decision of a turn is none of the four'),
  row('contract.waiver_reason_missing', 'error', 'A decision to waive has no reason'),
  row('HS4301', 'error', 'A relay is not UTF-8: M8Shift reads nothing of it'),
  row('HS4302', 'warning', 'A turn is begun and never ended: M8Shift does not see it'),
  row('HS4303', 'warning', 'A turn is ended and was never begun'),
  row('HS4304', 'warning', 'A turn has swallowed another: M8Shift takes it for a part of the body'),
  row('HS4305', 'warning', 'Two turns of one agent have one number'),
  row('HS4306', 'info', 'Numbers are left out between a turn and the one before'),
  row('HS4307', 'warning', 'The number of a turn is not above that of the one before'),
  row(
    'HS4308',
    'warning',
    'A line that is no field ends the header, and fields follow in the body',
  ),
  row('HS4309', 'warning', 'A line of the header ends with another character than a line feed'),
  row(
    'HS4310',
    'warning',
    'A turn holds a marker word that M8Shift would have refused or disarmed',
  ),
  row('HS4311', 'warning', 'A turn is from another agent than its markers say'),
  row('HS4312', 'warning', 'A turn is to another agent than it hands off to'),
  row('HS4313', 'warning', 'A field is given twice: the last value counts'),
  row('HS4314', 'warning', 'A turn is by an agent that the relay does not list'),
  row('HS4315', 'error', 'A review_result answers no open review_request to its agent'),
  row('HS4316', 'error', 'A turn waives for a reason without a letter or digit'),
  row('HS4317', 'error', 'A turn names as evidence or file what the store does not hold'),
  row('HS4318', 'info', 'A turn follows one that is to another agent'),
]

function row(code: string, severity: Severity, title: string): Rule {
  return { code, severity, title, where: 'turns' }
}
