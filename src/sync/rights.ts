/** What somebody who asks may do here. */
export interface Rights {
  /** Names where what they push waits to be judged. */
  readonly who: string
  mayRead(stream: string): boolean
  readonly mayWrite: boolean
}

/** The owner of the folder, who could read and write its files too. */
export const ownerRights: Rights = { who: 'owner', mayRead: () => true, mayWrite: true }
