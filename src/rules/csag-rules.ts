import type { Rule, Severity } from './rule.ts'

/**
 * The rules of the CSAG handoff profile 1.0.0 in upstream's order, then hstore's own advisories on such envelopes.
 *
 * @see docs/findings.md
 */
export const csagRules: readonly Rule[] = [
  row('CSAG-L-001', 'load', 'The envelope cannot be read, or is not JSON with one reading'),
  row('CSAG-L-002', 'root-not-object', 'The root of the envelope is not an object'),
  row('CSAG-S-001', 'type', 'A value has the wrong JSON type'),
  row('CSAG-S-002', 'required', 'A required key is missing'),
  row('CSAG-S-003', 'closed', 'An object has keys that its class does not know'),
  row('CSAG-S-004', 'enum', 'A value is not one of the enumeration'),
  row('CSAG-S-005', 'pattern', 'A text does not match the pattern of its property'),
  row('CSAG-S-006', 'format', 'A text is not a date or a date with time and offset'),
  row('CSAG-S-007', 'min-items', 'A list has too few items'),
  row('CSAG-S-008', 'minimum', 'A number is too small'),
  row('CSAG-S-009', 'maximum', 'A number is too large'),
  row('CSAG-S-010', 'nested-or-null', 'A value is neither null nor a valid nested object'),
  row('CSAG-H-001', 'self-parent', 'The revision names itself as a parent'),
  row('CSAG-H-002', 'parents-unique', 'A parent is named twice'),
  row('CSAG-H-003', 'heads-unique', 'A current head is named twice'),
  row('CSAG-H-004', 'duplicate-id', 'Two objects of the envelope have one id'),
  row('CSAG-H-005', 'paper-required', 'No source artifact is a paper extraction'),
  row('CSAG-H-006', 'identity-inconsistent', 'One locator is declared with two digests or sizes'),
  row('CSAG-H-007', 'path-file-scheme', 'A locator uses the file scheme'),
  row('CSAG-H-008', 'path-absolute', 'A locator is absolute or means a home directory'),
  row('CSAG-H-009', 'path-escape', 'A locator leads out of the bundle'),
  row('CSAG-H-010', 'path-malformed', 'A locator cannot be turned into a path'),
  row('CSAG-H-011', 'artifact-missing', 'There is no regular file where a locator leads'),
  row('CSAG-H-012', 'artifact-digest', 'The digest of a file differs from the declared one'),
  row('CSAG-H-013', 'artifact-size', 'The size of a file differs from the declared one'),
  row('CSAG-H-014', 'paper-not-json', 'A paper is not JSON'),
  row('CSAG-H-015', 'paper-schema', 'A paper breaks the schema of PaperExtraction'),
  row('CSAG-H-016', 'paper-not-object', 'The root of a paper is not an object'),
  row('CSAG-H-017', 'report-not-json', 'A report is not JSON'),
  row('CSAG-H-018', 'report-not-object', 'The root of a report is not an object'),
  row(
    'CSAG-H-019',
    'report-stale',
    'Inputs of a report are absent, malformed or changed since it was made',
  ),
  row('CSAG-H-020', 'report-foreign', 'A report is about a paper that the envelope does not hold'),
  row('CSAG-H-021', 'report-not-ok', 'A validation report does not say that its paper is valid'),
  row('CSAG-H-022', 'quality-sections', 'A quality report lacks one of its sections'),
  row('CSAG-H-023', 'quality-issues', 'The issues of a quality report are not a list'),
  row('CSAG-H-024', 'paper-unvalidated', 'No valid and fresh validation report names a paper'),
  row('CSAG-H-025', 'dependency-unresolved', 'A dependency is no action of the envelope'),
  row('CSAG-H-026', 'self-dependency', 'An action depends on itself'),
  row(
    'CSAG-H-027',
    'action-assertion-unresolved',
    'An action aims at an assertion that no paper has',
  ),
  row('CSAG-H-028', 'action-gap-unresolved', 'An action aims at a knowledge gap that no paper has'),
  row('CSAG-H-029', 'dependency-cycle', 'Actions depend on each other in a circle'),
  row('CSAG-H-030', 'environment-path', 'The locator of an environment is not allowed'),
  row(
    'CSAG-H-031',
    'environment-missing',
    'There is no regular file where the locator of an environment leads',
  ),
  row('CSAG-H-032', 'environment-digest', 'The digest of a lockfile differs from the declared one'),
  row('CSAG-H-033', 'action-ref', 'An execution belongs to no action of the envelope'),
  row('CSAG-H-034', 'completion-time', 'An execution has ended and has no completion time'),
  row('CSAG-H-035', 'outcome', 'An execution has ended and has no outcome'),
  row('CSAG-H-036', 'outputs', 'An execution is completed and has no outputs'),
  row(
    'CSAG-H-037',
    'completed-without-run',
    'An action is completed without a completed execution',
  ),
  row(
    'CSAG-H-038',
    'unfinished-dependency',
    'An action goes ahead of a dependency that is not completed',
  ),
  row('CSAG-H-039', 'basis-artifact', 'The basis of an assessment is no artifact of the envelope'),
  row(
    'CSAG-H-040',
    'basis-execution',
    'The basis of an assessment is no execution of the envelope',
  ),
  row('CSAG-H-041', 'basis-ref', 'The basis of an assessment is in no paper'),
  row(
    'CSAG-H-042',
    'assessment-assertion',
    'An assessment is about an assertion that no paper has',
  ),
  row('CSAG-H-043', 'no-basis', 'An assessment has no basis'),
  row(
    'CSAG-H-044',
    'head-unknown',
    'A competing head is neither the revision nor a parent nor a current head',
  ),
  row(
    'CSAG-H-045',
    'open-head-not-current',
    'A conflict is open and one of its heads is not current',
  ),
  row('CSAG-H-046', 'open-with-resolution', 'A conflict is open and has a resolution'),
  row('CSAG-H-047', 'resolution-missing', 'A conflict is resolved and has no resolution'),
  row(
    'CSAG-H-048',
    'resolved-head',
    'A conflict is resolved by a revision that is not a current head',
  ),
  row(
    'CSAG-H-049',
    'revision-not-head',
    'No conflict is open and the revision is not a current head',
  ),
  row('HS4101', 'odd-remote', 'A locator looks like a local path and counts as remote', 'info'),
  row('HS4102', 'link', 'A local file is reached over a symbolic link', 'info'),
  row('HS4103', 'cut', 'There are more findings than are listed', 'warning'),
]

function row(code: string, slug: string, title: string, severity: Severity = 'error'): Rule {
  return { code, severity, title, slug, where: 'csag' }
}
