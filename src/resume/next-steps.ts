import { readEnvelope } from '../bundle/contract.ts'
import type { HandoffAction, HandoffConflict, HandoffEnvelope } from '../contracts/csag/document.ts'
import { checkEnvelope } from '../contracts/csag/schema.ts'
import type { Context } from '../context.ts'
import type { Entry } from '../entry/entry.ts'

/** What an agent finds to do in an envelope. */
export interface NextSteps {
  readonly actions: readonly HandoffAction[]
  readonly conflicts: readonly HandoffConflict[]
}

const finished: readonly string[] = ['completed', 'cancelled']

/** Returns the agent's own unfinished actions, by any of its names, and the open conflicts. */
export async function nextSteps(
  context: Context,
  entry: Entry | undefined,
  agent: string,
): Promise<NextSteps> {
  if (entry?.kind !== 'envelope') return { actions: [], conflicts: [] }
  const document = await readEnvelope(context, entry)
  if (document === undefined || checkEnvelope(document).length > 0)
    return { actions: [], conflicts: [] }
  const { actions, conflicts } = document as HandoffEnvelope
  return {
    actions: (actions ?? []).filter(
      ({ action_status, owner }) =>
        !finished.includes(action_status) &&
        (owner === agent || context.trust.isNameOf(agent, owner)),
    ),
    conflicts: (conflicts ?? []).filter(({ conflict_status }) => conflict_status === 'open'),
  }
}
