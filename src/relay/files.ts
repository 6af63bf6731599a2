import type { RelayFile } from '../contracts/turns/validate.ts'

/** A relay's files, as they are now. */
export interface RelayFiles {
  readonly living: RelayFile
  /** Undefined where it is not given; without bytes where there is none. */
  readonly archive?: RelayFile | undefined
}
