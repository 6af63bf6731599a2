import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { TurnFinding } from '../../../src/contracts/turns/rules.ts'
import { readRelay } from '../../../src/contracts/turns/markdown.ts'
import { decimalOf } from '../../../src/contracts/turns/text.ts'
import { readTurn } from '../../../src/contracts/turns/turn.ts'
import type { TurnReport } from '../../../src/contracts/turns/validate.ts'
import type { Ran } from '../../support/cli.ts'
import { runCli } from '../../support/cli.ts'

/** One turn as the tool reads it. */
export interface ExpectedTurn {
  readonly number: number
  readonly agent: string
  readonly fields: Readonly<Record<string, string>>
  readonly body: string
}

/** The tool's report in both modes; null where it refused the file. */
export interface ExpectedContract {
  readonly default: TurnReport | null
  readonly strict: TurnReport | null
  readonly exit_default: number
  readonly exit_strict: number
}

/** An `append` that the tool was asked for. */
export interface Attempt {
  readonly why: string
  readonly flags: readonly string[]
  readonly stdin: string
  readonly exit: number
}

/** What the tool made of a relay. */
export interface ExpectedCase {
  readonly hand_edits: readonly string[]
  readonly sha256: Readonly<Record<string, string>>
  readonly turns: readonly ExpectedTurn[] | null
  readonly archive_turns?: readonly ExpectedTurn[] | null
  readonly contract: ExpectedContract
  readonly contract_living_only?: ExpectedContract
  readonly peek: Readonly<Record<string, { readonly exit: number; readonly stdout: string }>>
  readonly attempts?: readonly Attempt[]
  /** The codes of what hstore sees beyond; in cases of our own alone. */
  readonly advisories?: readonly string[]
}

/** Returns what a case is to give. */
export function readExpected(folder: string): ExpectedCase {
  return JSON.parse(readFileSync(path.join(folder, 'expected.json'), 'utf8')) as ExpectedCase
}

/** Returns the bytes of one of a case's files; undefined where it has none. */
export function readCaseFile(folder: string, name: string): Uint8Array | undefined {
  const file = path.join(folder, name)
  return existsSync(file) ? new Uint8Array(readFileSync(file)) : undefined
}

/** Returns the SHA-256 of bytes in hex. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Returns the turns of a file in the form that cases have; null where the tool reads none. */
export function turnsOf(bytes: Uint8Array): ExpectedTurn[] | null {
  const { turns, badByte } = readRelay(bytes)
  const isLong = turns.some(({ turn }) => turn.number.length > 4300)
  if (badByte !== undefined || isLong) return null
  return turns.map(({ turn }) => {
    const { fields, body } = readTurn(turn)
    return {
      number: Number(decimalOf(turn.number)),
      agent: turn.agent,
      fields: Object.fromEntries(fields.map(({ key, value }) => [key, value])),
      body,
    }
  })
}

/** Runs `turn validate` over a case, or `turn peek` where an agent is named. */
export function runTurn(folder: string, ...argv: readonly string[]): Promise<Ran> {
  return runCli(['turn', ...argv], { cwd: folder })
}

/** Returns a report without what is free to differ: texts, and the order of `field_empty` within a turn. */
export function verdictOf(report: TurnReport): unknown {
  const rows = report.findings.map(({ check, severity, turn, agent, field, path }: TurnFinding) =>
    [check, severity, turn, agent, field, path].map(String),
  )
  const isLoose = (row: readonly string[]): boolean => row[0] === 'contract.field_empty'
  const findings: string[][] = []
  for (const row of rows) {
    const before = findings.at(-1)
    if (before === undefined || !isLoose(row) || !isLoose(before) || row[2] !== before[2]) {
      findings.push(row)
      continue
    }
    const place = findings.findIndex(
      (other) => isLoose(other) && other[2] === row[2] && other[4]! > row[4]!,
    )
    findings.splice(place < 0 ? findings.length : place, 0, row)
  }
  const { ok, schema, severity_min, strict } = report
  return { findings, ok, schema, severity_min, strict }
}
