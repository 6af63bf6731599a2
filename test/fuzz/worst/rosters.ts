import { formatDidKey } from '../../../keys/did-key.ts'
import { publicKeyOf } from '../../../keys/ed25519.ts'
import { encodeForm } from '../../../store/canonical.ts'
import type { JsonForm } from '../../../store/canonical.ts'
import type { Shape } from './shapes.ts'

const name = (i: number): string => `a${String(i).padStart(6, '0')}`

function didOf(i: number): string {
  const seed = Buffer.alloc(32)
  seed.writeUInt32BE(i)
  return formatDidKey(publicKeyOf(new Uint8Array(seed)))
}

function rosterWith(changes: { readonly [key: string]: JsonForm }): Uint8Array {
  return encodeForm({
    agents: [],
    format: 1,
    nonce: { '/': { bytes: 'AAAAAAAAAAAAAAAAAAAAAA' } },
    prev: null,
    roots: [{ did: didOf(1), holder: 'h' }],
    threshold: 1,
    version: 0,
    ...changes,
  })
}

const bare = (i: number): JsonForm => ({ aliases: [], id: name(i), keys: [], read: [] })

function agentsWith(count: number, more: (i: number) => { [key: string]: JsonForm }): JsonForm[] {
  return Array.from({ length: count }, (_, i) => ({ ...(bare(i) as object), ...more(i) }))
}

function keyOf(did: string, grants: JsonForm[]): JsonForm {
  return { did, grants, level: 'file', machine: 'm' }
}

const starred = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${'*'.repeat(20)}${name(i)}*`)

/** Rosters that cost their reader most. */
export const rosters: readonly Shape[] = [
  ['40,000 agents', () => rosterWith({ agents: agentsWith(40_000, () => ({})) })],
  [
    '60,000 patterns',
    () => rosterWith({ agents: agentsWith(1, () => ({ read: starred(60_000) })) }),
  ],
  [
    '150,000 aliases',
    () =>
      rosterWith({
        agents: agentsWith(1, () => ({
          aliases: Array.from({ length: 150_000 }, (_, i) => `b${name(i)}`),
        })),
      }),
  ],
  [
    '12,000 keys',
    () =>
      rosterWith({
        agents: agentsWith(12_000, (i) => ({ keys: [keyOf(didOf(i), [])] })),
      }),
  ],
  [
    '40,000 grants',
    () => {
      const grants = Array.from({ length: 40_000 }, (_, i) => ({
        kinds: [name(i)],
        streams: ['*'],
      }))
      return rosterWith({ agents: agentsWith(1, () => ({ keys: [keyOf(didOf(2), grants)] })) })
    },
  ],
  [
    '20,000 roots',
    () => {
      const dids = Array.from({ length: 20_000 }, (_, i) => didOf(i)).sort()
      return rosterWith({ roots: dids.map((did) => ({ did, holder: 'h' })) })
    },
  ],
]
