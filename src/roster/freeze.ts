import type { Signer } from '../../keys/signer.ts'
import { HashedBlock } from '../../store/block.ts'
import { encodeForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import type { Context } from '../context.ts'
import { reloadTrust } from '../context.ts'
import { append } from '../put/append.ts'
import type { Cut } from '../trust/cut.ts'
import { freezeForm } from '../trust/cut.ts'
import type { CutPlace } from './cut-plan.ts'
import { planCut } from './cut-plan.ts'

/** Returns what a freeze of a key at a place would leave valid, as the cut that a roster could make of it. */
export async function planFreeze(context: Context, key: string, place: CutPlace): Promise<Cut> {
  const { pins } = await planCut(context, key, place)
  return { key, pins, readmitted: [] }
}

/**
 * Writes a freeze of the signer's key, and takes it over.
 *
 * @returns The entry's CID.
 * @throws {HandoffError} `HSTORE_SIGNER_UNKNOWN` when the roster does not know the key as the agent's.
 */
export async function freeze(
  context: Context,
  agent: string,
  signer: Signer,
  { pins }: Cut,
): Promise<CidText> {
  const bytes = encodeForm(freezeForm({ key: signer.did, pins }))
  const { entry } = await append(
    context,
    {
      kind: 'freeze',
      stream: 'roster',
      author: agent,
      body: HashedBlock.of(bytes, 'dag-json'),
      name: undefined,
      parentNames: [],
      parents: [],
      shallow: [],
      refs: [],
      artifacts: undefined,
      source: undefined,
      witness: false,
      blocks: [],
    },
    signer,
  )
  await reloadTrust(context)
  return entry.cid
}
