import { checkArtifact } from '../../store/artifacts.ts'
import type { JsonForm } from '../../store/canonical.ts'
import { decodeForm } from '../../store/canonical.ts'
import { codecOf, isCidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { familyOf } from '../entry/kinds.ts'
import { headsOf } from '../graph/ref.ts'
import { HstoreError } from '../kernel/errors.ts'

/** Returns whether what a turn names is there: a block by its CID, or a record of a workspace by its id. */
export type NameFinder = (name: string, workspace: string) => Promise<boolean>

/** Returns what finds the things that turns name; each workspace is read once. */
export function makeNameFinder(context: Context): NameFinder {
  const workspaces = new Map<string, Promise<ReadonlySet<string>>>()
  return async (name, workspace) => {
    if (isCidText(name)) {
      if (codecOf(name) === 'raw') return (await checkArtifact(context.db, name)) !== 'missing'
      return (await context.db.find(name)) !== undefined
    }
    const known = workspaces.get(workspace) ?? idsOf(context, workspace)
    workspaces.set(workspace, known)
    return (await known).has(name)
  }
}

/** Returns every id in the documents at a workspace's heads. What can't be read has none; `verify` names it. */
async function idsOf(context: Context, workspace: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  const streams = [`csag:${workspace}`, ...(familyOf(workspace) === 'csag' ? [workspace] : [])]
  try {
    for (const stream of streams) {
      for (const { body } of await headsOf(context, stream)) {
        addIds(decodeForm(await context.db.get(body)).form, ids)
      }
    }
  } catch (error) {
    if (!(error instanceof HstoreError)) throw error
  }
  return ids
}

function addIds(form: JsonForm, ids: Set<string>): void {
  const waiting: JsonForm[] = [form]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (typeof at !== 'object' || at === null) continue
    if (!Array.isArray(at) && typeof at['id'] === 'string') ids.add(at['id'])
    for (const value of Object.values(at)) waiting.push(value)
  }
}
