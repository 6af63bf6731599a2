import { StoreError } from '../../../store/errors.ts'
import { parseJson } from '../../../store/json-input.ts'
import type { JsonInput } from '../../../store/json-input.ts'
import type { JsonRemark } from '../../../store/json-scanner.ts'
import { HandoffError } from '../../errors.ts'
import { ArgumentError, assertArgument, assertBytes } from '../../kernel/errors.ts'
import { bounded } from '../../kernel/shown.ts'
import type { Finding } from '../../rules/rule.ts'
import type { HrcAck, HrcProposal, HrcSignal, HrcState, Tick } from './documents.ts'
import type { Decision } from './evaluate.ts'
import { evaluateCommit, evaluateHandoff, evaluateTransition } from './evaluate.ts'
import { fault, findFaults } from './schema.ts'
import type { HrcKind } from './schema.ts'

/** How far a handoff is evaluated; each stage begins with those before it. */
export type HrcStage = 'commit' | 'handoff' | 'transition'

/** A document of HRC-001 as a file: JSON, at most 2 MiB. */
export interface HrcFile {
  readonly bytes: Uint8Array
  /** What messages call it. */
  readonly name: string
}

/** The documents that an answer rests on. */
export interface HrcFiles {
  readonly state: HrcFile
  readonly proposal: HrcFile
  /** Absent where no signal was seen. */
  readonly signal?: HrcFile | undefined
  /** Absent where no acknowledgement was seen. */
  readonly ack?: HrcFile | undefined
}

const limits = { maxBytes: 2 * 1024 * 1024, maxDepth: 64 }
const maxFindings = 1000

/**
 * Returns HRC-001's answer on documents given as files. Needs no store, key or agent, and looks at no clock. Every file
 * given has to keep its schema, also one that the stage does not look at.
 *
 * @param now - The tick to judge a signal by; `transition` has no use for it.
 * @throws {HandoffError} `HSTORE_DOCUMENT_INVALID` when files break their schema; `details.findings` has every place (at
 *   most 1,000), `path` the name of its file.
 * @throws {StoreError} `HSTORE_JSON_INVALID` for a file that is no JSON, or over 2 MiB.
 */
export function evaluateHrc(stage: HrcStage, files: HrcFiles, now: Tick): Decision {
  assertArgument('files', files, 'object')
  if (!Number.isSafeInteger(now) || now < 0) throw new ArgumentError('now: wanted whole seconds')
  const faults: Finding[] = []
  const state = read(files.state, 'state', faults) as HrcState
  const proposal = read(files.proposal, 'proposal', faults) as HrcProposal
  const signal = files.signal && (read(files.signal, 'reachability', faults) as HrcSignal)
  const ack = files.ack && (read(files.ack, 'ack', faults) as HrcAck)
  assertSound(faults)
  switch (stage) {
    case 'transition':
      return evaluateTransition(state, proposal)
    case 'handoff':
      return evaluateHandoff(state, proposal, signal, now)
    case 'commit':
      return evaluateCommit(state, proposal, signal, ack, now)
    default:
      throw new ArgumentError('stage: wanted transition, handoff or commit')
  }
}

/** Returns a file's document; what is wrong with it goes to `faults`. */
function read(file: HrcFile, kind: HrcKind, faults: Finding[]): unknown {
  assertArgument(kind, file, 'object')
  assertBytes(`${kind}.bytes`, file.bytes)
  assertArgument(`${kind}.name`, file.name, 'string')
  const { value, remarks } = parse(file)
  const found = findFaults(value, kind)
  const places = new Set(found.map(({ pointer }) => pointer))
  // a number that the schema refuses is told once
  const hidden = remarks.filter(({ pointer }) => !places.has(pointer)).map(faultOf)
  for (const one of [...found, ...hidden]) faults.push({ ...one, path: file.name })
  return value
}

function parse({ bytes, name }: HrcFile): JsonInput {
  try {
    return parseJson(bytes, limits)
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause
    const details = { path: name, ...cause.details }
    throw new StoreError(cause.code, `${name}: ${cause.message}`, { cause, details })
  }
}

/** What a reader may take in two ways has no place in a document. */
function faultOf({ kind, pointer, text }: JsonRemark): Finding {
  if (kind === 'duplicate-key') return fault(pointer, 'is there twice')
  if (kind === 'lone-surrogate') return fault(pointer, `lone surrogate in ${bounded(text)}`)
  return fault(pointer, `wanted an integer without point, exponent or sign, got ${bounded(text)}`)
}

function assertSound(faults: readonly Finding[]): void {
  const [first] = faults
  if (first === undefined) return
  const place = [first.path, first.pointer].filter((part) => part !== '').join(' ')
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more; --json lists all)` : ''
  throw new HandoffError('HSTORE_DOCUMENT_INVALID', `${place}: ${first.message}${more}`, {
    details: { path: first.path, pointer: first.pointer, findings: faults.slice(0, maxFindings) },
  })
}
