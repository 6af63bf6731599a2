import { fileURLToPath } from 'node:url'

/** One revision of the worked example. */
export interface HistoryFile {
  /** Absolute path of the envelope. */
  readonly file: string
  /** Agent that the envelope names in `created_by`, and that puts it. */
  readonly agent: string
  /** What the envelope calls itself. */
  readonly revision: string
  /** True where a parent has another child by then, so that `put` wants `--parent`. */
  readonly fork: boolean
}

/** The folder that holds the envelopes and the artifacts of the worked example, as an absolute path. */
export const historyBundle: string = fileURLToPath(
  new URL('../../fixtures/history/bundle/', import.meta.url),
)

/** The workspace of the worked example: its stream is `csag:` and this. */
export const historyWorkspace = 'csag:handoff/tide-gauge'

/** The revisions of the worked example, in the order in which they are put. */
export const historyFiles: readonly HistoryFile[] = [
  revision('R0001', 'agent-a', false),
  revision('R0002-agent-a', 'agent-a', false),
  revision('R0002-agent-b', 'agent-b', true),
  revision('R0003', 'merger', false),
]

function revision(name: string, agent: string, fork: boolean): HistoryFile {
  return {
    file: `${historyBundle}${name.toLowerCase()}.json`,
    agent: `csag:agent/${agent}`,
    revision: `${historyWorkspace}/revision/${name}`,
    fork,
  }
}
