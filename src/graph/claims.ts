import { nameKey } from '../../store/keyspace.ts'
import type { Context } from '../context.ts'
import type { Entry } from '../entry/entry.ts'
import { compareUtf8 } from '../kernel/bytes.ts'
import { finding } from '../rules/hstore-rules.ts'
import type { Finding } from '../rules/rule.ts'
import type { LoadedGraph } from './loaded.ts'
import { headsOf } from './ref.ts'

/** Returns where what an envelope says of its surroundings differs from what the store holds; information only. */
export async function judgeClaims(
  context: Context,
  graph: LoadedGraph,
  entry: Entry | undefined,
): Promise<Finding[]> {
  const body = entry === undefined ? undefined : graph.bodies.get(entry.body)
  if (entry === undefined || body?.kind !== 'envelope') return []
  const heads = await headsOf(context, entry.stream)
  const names = [...new Set(heads.map(({ name }) => name ?? ''))].sort(compareUtf8)
  const claimed = [...new Set(body.facts.currentHeads)].sort(compareUtf8)
  const { cid } = entry
  const held = entry.shallow.filter(
    (name) => context.db.readRow('names', nameKey(entry.stream, name)) !== undefined,
  )
  return [
    ...(names.join('\u0000') === claimed.join('\u0000')
      ? []
      : [
          finding(
            'HS3012',
            `claims heads ${claimed.join(', ')}; the store has ${names.join(', ')}`,
            { cid },
          ),
        ]),
    ...held.map((name) =>
      finding('HS3013', `${name} is in the store by now: put the file again without --shallow`, {
        cid,
      }),
    ),
  ]
}
