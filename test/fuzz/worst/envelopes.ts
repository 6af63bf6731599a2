import type { SeedFolder } from '../seeds.ts'
import { bytesOfText } from '../target.ts'
import type { Shape } from './shapes.ts'
import { size } from './shapes.ts'

type Envelope = Record<string, unknown> & {
  readonly actions: readonly object[]
  readonly assessments: readonly object[]
  readonly conflicts: readonly object[]
  readonly executions: readonly object[]
  readonly source_artifacts: readonly object[]
}

/** Envelopes that cost the rules most: whatever grows with the product of two lists shows here. */
export function envelopes(seeds: SeedFolder): Shape[] {
  const worked = (): Envelope => {
    const text = Buffer.from(seeds.bytes('csag-cases', 'bundle', 'handoff.json')).toString()
    return JSON.parse(text) as Envelope
  }
  const shape = (name: string, change: (from: Envelope) => object): Shape => [
    name,
    () => bytesOfText(JSON.stringify({ ...worked(), ...change(worked()) })),
  ]
  const many = <T>(count: number, make: (i: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => make(i))
  const actions = (from: Envelope, count: number, more: (i: number) => object): object => ({
    actions: many(count, (i) => ({ ...from.actions[0], id: `n${i}`, ...more(i) })),
  })
  const records = (from: Envelope, count: number, more: (i: number) => object): object => ({
    source_artifacts: many(count, (i) => ({
      ...from.source_artifacts[0],
      id: `n${i}`,
      ...more(i),
    })),
  })
  const at = (locator: string) => (from: Envelope) =>
    records(from, 1, () => ({ artifact_path: locator.repeat(Math.floor(size / locator.length)) }))
  return [
    shape('a chain of actions', (from) =>
      actions(from, 6000, (i) => ({ dependencies: [`n${i + 1}`] })),
    ),
    shape('a ring of actions', (from) =>
      actions(from, 6000, (i) => ({ dependencies: [`n${(i + 1) % 6000}`] })),
    ),
    shape('400 actions that all depend on all', (from) =>
      actions(from, 400, () => ({ dependencies: many(400, (i) => `n${i}`) })),
    ),
    shape('200,000 unknown dependencies', (from) =>
      actions(from, 1, () => ({ dependencies: many(200_000, (i) => `x${i}`) })),
    ),
    shape('one dependency 300,000 times', (from) =>
      actions(from, 1, () => ({ dependencies: many(300_000, () => 'n0') })),
    ),
    shape('actions of one id', (from) => actions(from, 7000, () => ({ id: 'same' }))),
    shape('actions without anything', () => ({ actions: many(500_000, () => ({})) })),
    shape('actions that are no objects', () => ({ actions: many(700_000, () => 0) })),
    shape('unknown keys', () => Object.fromEntries(many(150_000, (i) => [`k${i}`, 0]))),
    shape('unknown keys in many records', (from) =>
      records(from, 9000, (i) => ({ [`k${i}`]: 0, constructor: 1 })),
    ),
    shape('records at one place', (from) =>
      records(from, 8000, (i) => ({
        artifact_path: 'https://example.org/x',
        sha256: String(i % 7).repeat(64),
      })),
    ),
    shape('records with large sizes', (from) =>
      records(from, 8000, () => ({ byte_size: 2 ** 60 })),
    ),
    shape('500,000 heads', (from) => ({
      current_heads: many(400_000, (i) => (i === 0 ? from['revision'] : 'h')),
    })),
    shape('parents and heads', (from) => ({
      parents: many(100_000, (i) => `p${i}`),
      current_heads: [from['revision'], ...many(100_000, (i) => `p${i}`)],
    })),
    shape('conflicts over all heads', (from) => ({
      conflicts: many(1500, (i) => ({
        ...from.conflicts[0],
        id: `c${i}`,
        competing_heads: many(50, (k) => `h${k}`),
      })),
    })),
    shape('a basis of 200,000', (from) => ({
      assessments: [
        {
          ...from.assessments[0],
          basis_artifacts: many(100_000, (i) => `x${i}`),
          basis_refs: many(100_000, (i) => `x${i}`),
        },
      ],
    })),
    shape('executions', (from) => ({
      executions: many(1200, (i) => ({ ...from.executions[0], id: `e${i}` })),
    })),
    shape('an environment of marks', (from) => ({
      executions: [
        { ...from.executions[0], environment: '#sha256='.repeat(250_000) + 'a'.repeat(64) },
      ],
    })),
    shape('a time of 2 MiB', () => ({
      created_on: `2026-03-01T10:00:00.${'1'.repeat(2_000_000)}`,
    })),
    shape('a locator of dots', at('a/../')),
    shape('a locator of escapes', at('%2e%2e%2f')),
    shape('a locator of broken escapes', at('%c3%zz')),
    shape('a locator of white space', at(' \t\r\n')),
    shape('a locator of brackets', at('//[')),
    shape('a locator of at signs', at('//@:')),
    shape('a locator of wide letters', (from) =>
      records(from, 1, () => ({ artifact_path: `//${'\u2100\u0344'.repeat(400_000)}` })),
    ),
    shape('a locator of surrogates', at('\ud83d\ude00\t')),
    shape('a scheme of 2 MiB', at('a.+')),
    shape('a locator of colons', at('a:')),
    shape('6,000 long ways', (from) =>
      records(from, 6000, (i) => ({ artifact_path: `${'a/'.repeat(50)}../${i}` })),
    ),
    shape('maps where text is wanted', (from) => ({
      ...from,
      ...Object.fromEntries(Object.keys(from).map((key) => [key, many(19_000, () => ({ a: [] }))])),
    })),
  ]
}
