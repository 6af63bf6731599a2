import type { RelayFile } from '../contracts/turns/validate.ts'

/** Relay files, or what reads them: it is called when nobody else can change the store any more. */
export type GivenFiles = RelayFiles | (() => Promise<RelayFiles>)

/** A relay's files, as they are now. */
export interface RelayFiles {
  readonly living: RelayFile
  /** Undefined where it is not given; without bytes where there is none. */
  readonly archive?: RelayFile | undefined
}
