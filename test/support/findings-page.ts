import type { Rule, RuleArea } from '../../src/rules/rule.ts'

const areas: readonly (readonly [RuleArea, string, string])[] = [
  ['codec', 'Blocks', 'Bytes, hashes and the form of entries.'],
  [
    'trust',
    'Signatures and trust',
    'What the roster makes of an entry; [format.md](format.md), «Standing».',
  ],
  ['graph', 'Graph', 'How entries hang together; [format.md](format.md), «Graph».'],
  ['contract', 'Bodies', 'Whether a body is what its kind wants.'],
  ['artifact', 'Artifacts', 'The files that envelopes name.'],
  [
    'csag',
    'CSAG handoff profile',
    'The rules of the handoff profile 1.0.0 under their own codes (`CSAG-…`), then hstore’s advisories on such envelopes: these stand beside the verdict and never change it.',
  ],
  [
    'turns',
    'Turns',
    'The stage-4 contract of M8Shift turns under upstream’s names (`contract.…`), then what hstore sees in a relay and M8Shift passes over: these stand beside the verdict of `turn validate` and never change it.\n\nHS4315 to HS4317 are errors of `verify` and `resume`: on a review that nobody asked for, a waiver without a reason and evidence that is not there a successor would build. Nothing that is there is wrong, so `verify` ends with 1, and the gate opens as `partial`. One review_result answers one review_request to its agent; of a relay that begins after turn 1 it is not known who asked before. HS4318 is information: M8Shift hands the pen on without a turn too (`release`, `done`), so a turn of another agent than the one addressed may be right; only a turn with the next number is looked at.',
  ],
  [
    'hrc',
    'Lanes',
    'The answers of HRC-001 (who may write on a lane, when a handoff is complete) and ORC-001 (what executions may still do) that are no yes, under their own names and in the order that they are asked for; then what a document has to be.',
  ],
  ['resume', 'Resume', 'Rules of the gate alone.'],
]

const head = `# Findings

Every rule that \`verify\`, \`validate\`, \`turn validate\`, \`hrc evaluate\`, \`put\` and \`resume\` know, by the code that their findings carry. A code keeps its meaning; messages may change.
This page is made from the table of rules in the source: a test compares the two.

A finding is \`{code, severity, message, path?, pointer?, cid?}\`: \`path\` in the spelling of the contract, \`pointer\` a JSON pointer, \`cid\` the block that it is about.

| severity | means |
| --- | --- |
| \`error\` | decides: \`verify\` and \`validate\` say no, the gate says \`unsafe\`; with HS4315 to HS4317 alone \`partial\` |
| \`warning\` | asks for attention; HS2004 and HS2005 make the gate \`pending\`, HS1012, HS2106, HS3008 and HS3015 \`partial\` |
| \`info\` | for the reader; HS3014 makes the gate \`partial\` |
`

/** Returns the text of docs/findings.md, before formatting, for a table of rules. */
export function findingsPage(rules: readonly Rule[]): string {
  const sections = areas.flatMap(([area, title, about]) => {
    const own = rules.filter(({ where }) => where === area)
    return own.length === 0 ? [] : [`## ${title}\n\n${about}\n\n${table(own)}`]
  })
  return [head, ...sections].join('\n')
}

/** Returns a table with one row a rule; a column for the contract's own names where there are any. */
function table(rules: readonly Rule[]): string {
  const isNamed = rules.some(({ slug }) => slug !== undefined)
  const rows = rules.map(({ code, severity, slug, title }) => {
    const cells = [`\`${code}\``, severity, ...(isNamed ? [slug ?? ''] : []), title]
    return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`
  })
  const heads = ['code', 'severity', ...(isNamed ? ['name'] : []), 'what is wrong']
  const line = heads.map(() => '---')
  return `| ${heads.join(' | ')} |\n| ${line.join(' | ')} |\n${rows.join('\n')}\n`
}

/** Returns a page of Markdown without what a formatter adds: the padding of table cells. */
export function unpadded(page: string): string {
  return page
    .split('\n')
    .map((line) =>
      line.startsWith('|') ? line.replaceAll(/ {2,}\|/g, ' |').replaceAll(/-{3,}/g, '---') : line,
    )
    .join('\n')
}
