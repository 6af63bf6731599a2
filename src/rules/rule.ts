/** How much a finding weighs: an error decides a verdict, a warning asks for attention, information is for the reader. */
export type Severity = 'error' | 'warning' | 'info'

/** A place where a rule does not hold. */
export interface Finding {
  /** The rule, as `src/rules/table.ts` names it. */
  readonly code: string
  readonly severity: Severity
  /** One line for a person; free to change. */
  readonly message: string
  /** The place in the spelling of the contract that the rule is from. */
  readonly path?: string
  /** The place as a JSON pointer (RFC 6901) into the document. */
  readonly pointer?: string
  /** The block that the finding is about. */
  readonly cid?: string
}

/** Which part of the domain a rule belongs to. */
export type RuleArea =
  | 'artifact'
  | 'codec'
  | 'contract'
  | 'csag'
  | 'graph'
  | 'hrc'
  | 'resume'
  | 'trust'
  | 'turns'

/** What must hold, as one row of the table. */
export interface Rule {
  readonly code: string
  readonly severity: Severity
  /** What is wrong when the rule fires; one line, no full stop. */
  readonly title: string
  /** The contract's own short name for the rule, where it has one. */
  readonly slug?: string
  readonly where: RuleArea
}
