// Envelopes for the benchmarks: handoffs as agents write them, within the contract's closed schema and all its rules,
// each a function of its number alone. They form one chain; their files are remote, so nothing is looked up.
import { createHash } from 'node:crypto'

/** Who writes all of them. */
export const author = 'csag:agent/bench'
const workspace = 'csag:handoff/bench'
const start = Date.UTC(2026, 5, 1)

const verbs = 'check rerun compare collect extract merge measure annotate review repair'.split(' ')
const nouns =
  'baseline cohort dataset assay figure table threshold replicate control calibration margin schema'.split(
    ' ',
  )
const links = 'against before because although unless within after without under beside'.split(' ')

/** Returns revision `i` of the chain: 6 to 7 KB of JSON. */
export function envelope(i) {
  const dice = diceOf(i)
  const at = (minutes) =>
    new Date(start + (i * 60 + minutes) * 60_000).toISOString().slice(0, 19) + 'Z'
  const id = (kind, n) => `${workspace}/${kind}/${i}-${n}`
  const revision = (n) => `${workspace}/revision/${String(n).padStart(6, '0')}`
  const file = (n, role, name) => ({
    id: id('artifact', n),
    artifact_role: role,
    artifact_path: `https://files.example.net/bench/${i}/${name}`,
    sha256: createHash('sha256').update(`${i} ${name}`).digest('hex'),
    media_type: name.endsWith('.md') ? 'text/markdown' : 'application/json',
    byte_size: 500 + dice(200_000),
  })
  const parts = { id, at, file, dice }
  const sources = [
    file('paper', 'paper_extraction', 'paper.json'),
    file('text', 'source_markdown', 'paper.md'),
    file('meta', 'article_metadata', 'article.json'),
  ]
  return {
    id: workspace,
    envelope_version: '1.0.0',
    revision: revision(i),
    parents: i === 0 ? [] : [revision(i - 1)],
    source_artifacts: sources,
    assessments: [0, 1].map((n) => assessmentOf(n, parts)),
    actions: [0, 1].map((n) => actionOf(n, parts)),
    executions: [0, 1].map((n) => executionOf(n, i, parts)),
    conflicts: [],
    current_heads: [revision(i)],
    created_on: at(55),
    created_by: author,
  }
}

function actionOf(n, { id, at, dice }) {
  return {
    id: id('action', n),
    action_type: n === 0 ? 'review' : 'replication',
    description: prose(dice, 260),
    owner: author,
    action_status: 'completed',
    ...(n === 0 ? {} : { dependencies: [id('action', 0)] }),
    acceptance_criteria: [prose(dice, 90), prose(dice, 110)],
    created_on: at(n),
    created_by: author,
  }
}

function executionOf(n, i, { id, at, file, dice }) {
  const lock = createHash('sha256').update(`lock ${i}`).digest('hex')
  return {
    id: id('execution', n),
    action_ref: id('action', n),
    execution_type: n === 0 ? 'validation' : 'quality report',
    execution_status: 'completed',
    command: `csag ${n === 0 ? 'validate' : 'report'} paper.json --out ${n === 0 ? 'validation' : 'quality'}.json`,
    inputs: [file(`in-${n}-0`, 'paper_extraction', 'paper.json')].map((input) =>
      sameFile(input, i),
    ),
    outputs: [
      n === 0
        ? file('out-0', 'validation_report', 'validation.json')
        : file('out-1', 'quality_report', 'quality.json'),
    ],
    environment: `https://files.example.net/bench/${i}/environment.lock#sha256=${lock}`,
    code_commit: lock.slice(0, 40),
    execution_outcome: prose(dice, 320),
    started_on: at(10 + n * 15),
    completed_on: at(20 + n * 15),
    created_by: author,
  }
}

/** One file has one size wherever it is named. */
function sameFile(input, i) {
  return { ...input, byte_size: 500 + diceOf(i)(200_000) }
}

function assessmentOf(n, { id, at, dice }) {
  return {
    id: id('assessment', n),
    assessment_status: n === 0 ? 'accepted' : 'open',
    assessment_text: prose(dice, 380),
    basis_artifacts: [id('artifact', 'paper'), id('artifact', `out-${n}`)],
    basis_executions: [id('execution', n)],
    created_on: at(50 + n),
    created_by: author,
  }
}

function prose(dice, size) {
  const words = []
  for (let length = 0; length < size; length += words.at(-1).length + 1) {
    const list = [verbs, nouns, links][words.length % 3]
    words.push(list[dice(list.length)])
  }
  return `${words.join(' ')}.`
}

/** Returns a source of whole numbers below a bound, the same for the same number (a linear congruence, 32 bits). */
function diceOf(i) {
  let state = (i * 2_654_435_761 + 97) % 2 ** 32
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}
