import type { Context } from '../context.ts'
import { openContext } from '../context.ts'
import type { Tick } from '../contracts/hrc/documents.ts'
import type { HrcFile } from '../contracts/hrc/read-file.ts'
import { folderOf } from '../store-folder.ts'
import type { StoreChoice } from '../store-options.ts'
import type { MayActInput, MayActReport, QuiescenceReport } from './may-act.ts'
import { mayAct, quiescence } from './may-act.ts'

/** Which store is asked, and whose trust counts. No `Store` of this process may hold it. */
type AskedStore = Pick<StoreChoice, 'cwd' | 'genesis' | 'keys' | 'open' | 'store' | 'waitMs'>

/** Does what `mayAct` does in a store that is opened for it alone, so that nothing else is loaded. */
export async function askMayAct(
  store: AskedStore,
  input: MayActInput,
  now: Tick,
): Promise<MayActReport> {
  return inStore(store, (open) => mayAct(open, input, now))
}

/** Does what `quiescence` does, in the same way. */
export async function askQuiescence(
  store: AskedStore,
  lane: string,
  executions: HrcFile,
  now: Tick,
): Promise<QuiescenceReport> {
  return inStore(store, (open) => quiescence(open, lane, executions, now))
}

/** Opens the store once the documents are sound, and lets go of it. */
async function inStore<T>(
  options: AskedStore,
  ask: (open: () => Promise<Context>) => Promise<T>,
): Promise<T> {
  const { keys: keysFolder, waitMs = 30_000, genesis, open } = options
  let opened: Context | undefined
  try {
    return await ask(async () => {
      const folder = folderOf(options)
      opened = await openContext({ folder, keysFolder, waitMs, genesis, open })
      return opened
    })
  } finally {
    await opened?.[Symbol.asyncDispose]()
  }
}
