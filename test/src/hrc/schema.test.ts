import { describe, expect, it } from 'vitest'
import type { HrcFiles } from '../../../src/contracts/hrc/evaluate-files.ts'
import { evaluateHrc } from '../../../src/contracts/hrc/evaluate-files.ts'
import type { HrcKind } from '../../../src/contracts/hrc/schema.ts'
import { findFaults } from '../../../src/contracts/hrc/schema.ts'
import { HstoreError } from '../../../src/kernel/errors.ts'
import { exampleNow, readExample } from './cases.ts'

const { state, proposal, signal, ack } = readExample()
const execution = {
  execution_id: 'run-1',
  authority_lane_id: 'tide-gauge',
  authority_owner_ref: 'csag:agent/merger',
  authority_epoch: 2,
  root_execution_id: 'run-1',
  actor_ref: 'csag:agent/merger',
}
const documents: Readonly<Record<HrcKind, object>> = {
  state,
  proposal,
  reachability: signal,
  ack,
  execution,
}
const kinds = Object.keys(documents) as readonly HrcKind[]

function placesOf(document: unknown, kind: HrcKind): readonly (string | undefined)[] {
  return findFaults(document, kind).map(({ pointer }) => pointer)
}

function without(document: object, key: string): object {
  return Object.fromEntries(Object.entries(document).filter(([name]) => name !== key))
}

describe.each(kinds)('the schema of %s', (kind) => {
  const whole = documents[kind]

  it('takes the example', () => expect(findFaults(whole, kind)).toEqual([]))

  it.each(Object.keys(whole))('names %s where it is missing, or of any wrong form', (key) => {
    expect(placesOf(without(whole, key), kind)).toContain(`/${key}`)
    for (const value of [null, true, '', -1, 1.5, 2 ** 53, Number.NaN, [], {}, ['x']]) {
      expect(placesOf({ ...whole, [key]: value }, kind)).toContain(`/${key}`)
    }
  })

  it('is closed, also to what every object of JavaScript has', () => {
    for (const key of ['extra', 'constructor', '__proto__', 'toString', 'a/b~c', '']) {
      const document: unknown = JSON.parse(
        `${JSON.stringify(whole).slice(0, -1)},${JSON.stringify(key)}:"x"}`,
      )
      const pointer = `/${key.replace('~', '~0').replace('/', '~1')}`
      expect(placesOf(document, kind)).toEqual([pointer])
    }
  })

  it('takes none of the other documents, and nothing that is no object', () => {
    for (const other of kinds.filter((one) => one !== kind)) {
      expect(findFaults(documents[other], kind)).not.toEqual([])
    }
    for (const value of [null, 1, 'x', true, [], [whole]]) {
      expect(placesOf(value, kind)).toEqual([''])
    }
  })
})

describe('what an execution may say more', () => {
  it.each(['process_group_ref', 'process_state'])('is %s, as text', (key) => {
    expect(placesOf({ ...execution, [key]: 'x' }, 'execution')).toEqual([])
    for (const value of [null, '', 1, {}])
      expect(placesOf({ ...execution, [key]: value }, 'execution')).toEqual([`/${key}`])
  })

  it('is its parent, as text or null', () => {
    const place = (value: unknown) =>
      placesOf({ ...execution, parent_execution_id: value }, 'execution')
    expect([place('run-0'), place(null)]).toEqual([[], []])
    for (const value of ['', 1, false, []]) expect(place(value)).toEqual(['/parent_execution_id'])
  })
})

describe('evaluateHrc', () => {
  const file = (name: string, document: unknown): { name: string; bytes: Uint8Array } => ({
    name,
    bytes: Buffer.from(typeof document === 'string' ? document : JSON.stringify(document)),
  })
  const files: HrcFiles = {
    state: file('s.json', state),
    proposal: file('p.json', proposal),
    signal: file('r.json', signal),
    ack: file('k.json', ack),
  }
  const text = JSON.stringify(state)

  /** The refusal of a state that is spelled as given. */
  function refusal(spelled: string, more: Partial<HrcFiles> = {}): HstoreError {
    try {
      evaluateHrc('commit', { ...files, state: file('s.json', spelled), ...more }, exampleNow)
    } catch (error) {
      if (error instanceof HstoreError) return error
      throw error
    }
    throw new Error(`not refused: ${spelled}`)
  }

  it('answers each stage', () => {
    const answer = (stage: 'commit' | 'handoff' | 'transition'): string =>
      evaluateHrc(stage, files, exampleNow).status
    expect([answer('transition'), answer('handoff'), answer('commit')]).toEqual([
      'HANDOFF_REQUIRES_REACHABILITY',
      'HANDOFF_DELIVERABLE',
      'HANDOFF_COMMIT_ALLOWED',
    ])
  })

  it.each([
    ['a key twice', text.replace('{', '{"lane_id":"x",'), '/lane_id'],
    ['a fraction that rounds to an integer', text.replace(':2,', ':1.99999999999999999999,')],
    ['an integer with a point', text.replace(':2,', ':2.0,')],
    ['an integer with an exponent', text.replace(':2,', ':2e0,')],
    ['an integer past 2^53', text.replace(':2,', ':9007199254740993,')],
    ['minus zero', text.replace(':2,', ':-0,')],
    ['a lone surrogate', text.replace('event-7', String.raw`\ud800`), '/head_event_id'],
  ])('refuses %s', (_, spelled, pointer = '/ownership_epoch') => {
    const { code, details, message } = refusal(spelled)
    expect({ code, pointer: details['pointer'] }).toEqual({
      code: 'HSTORE_DOCUMENT_INVALID',
      pointer,
    })
    expect(details['findings']).toHaveLength(1)
    expect(message).toContain(`s.json ${pointer}: `)
  })

  it.each(['', 'x', `${text}x`, `\ufeff${text}`, '['.repeat(100), `"${'x'.repeat(2 ** 21)}"`])(
    'refuses what is no JSON or too large, by file and line: %#',
    (spelled) => {
      const { code, details, message } = refusal(spelled)
      expect({ code, path: details['path'] }).toEqual({
        code: 'HSTORE_JSON_INVALID',
        path: 's.json',
      })
      expect(message).toMatch(/^s\.json: /)
    },
  )

  it('lists the faults of all files, and at most 1,000', () => {
    const bad = file('k.json', { ...ack, ack_id: '' })
    const { details } = refusal('{}', { ack: bad })
    const findings = details['findings'] as readonly { path: string }[]
    expect(findings.map(({ path }) => path)).toEqual([...Array(6).fill('s.json'), 'k.json'])
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 1]))
    expect(refusal(JSON.stringify(many)).details['findings']).toHaveLength(1000)
  })

  it('looks at files that the stage does not ask for', () => {
    const bad = { ...files, ack: file('k.json', {}) }
    expect(() => evaluateHrc('transition', bad, exampleNow)).toThrow('k.json')
  })
})
