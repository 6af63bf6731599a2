import type { SeedFolder } from '../seeds.ts'
import { bytesOfText } from '../target.ts'
import type { Shape } from './shapes.ts'

const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

const document = (value: object): Uint8Array => bytesOfText(JSON.stringify(value))

/** Papers that cost the largest of the closed schemas most. */
export function papers(seeds: SeedFolder): Shape[] {
  const worked = (): Record<string, unknown> => seeds.json('csag-cases', 'bundle', 'paper.json')
  const lists = (): string[] =>
    Object.entries(worked()).flatMap(([key, value]) => (Array.isArray(value) ? [key] : []))
  const filled = (name: string, make: (i: number) => unknown, room: number): Shape => [
    name,
    () => {
      const count = Math.floor(room / Math.max(1, lists().length))
      const members = lists().map((key) => [key, many(count, make)])
      return document({ ...worked(), ...Object.fromEntries(members) })
    },
  ]
  return [
    filled('empty objects in all lists', () => ({}), 600_000),
    filled('objects of unknown keys', (i) => ({ [`k${i}`]: 0 }), 150_000),
    filled('objects with an id', (i) => ({ id: `n${i}` }), 130_000),
    filled('numbers in all lists', () => 0, 900_000),
    [
      'unknown keys',
      () => document({ ...worked(), ...Object.fromEntries(many(150_000, (i) => [`k${i}`, 0])) }),
    ],
  ]
}

/** Reports that cost their reader most. */
export const reports: readonly Shape[] = [
  [
    '25,000 inputs',
    () =>
      document({
        inputs: Object.fromEntries(
          many(25_000, (i) => [`k${i}`, { path: `../x/${i}`, sha256: 'a' }]),
        ),
      }),
  ],
  [
    '150,000 inputs that are none',
    () => document({ inputs: Object.fromEntries(many(150_000, (i) => [`k${i}`, 0])) }),
  ],
  [
    'one long way',
    () => document({ inputs: { a: { path: 'a/../'.repeat(400_000), sha256: 'a' } } }),
  ],
]
