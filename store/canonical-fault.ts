import { asBuffer } from '../src/kernel/bytes.ts'
import { quoted } from '../src/kernel/shown.ts'
import type { BlockReason } from './block-fault.ts'
import { judgeNumber } from './json-number.ts'

/** Why a byte does not belong into canonical DAG-JSON, and the words for it. */
export type Fault = readonly [reason: BlockReason, what: string]

const numberBytes = Buffer.from('0123456789-+.eE')
const numberGrammar = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Returns the fault of a byte that stands where something else has to. */
export function unexpectedByte(bytes: Uint8Array, at: number, wanted: string): Fault {
  if (at >= bytes.length) return ['not-json', `cut short, wanted ${wanted}`]
  const byte = bytes[at] ?? 0
  if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
    return ['white-space', 'white space outside a string']
  }
  const got = String.fromCodePoint(characterAt(bytes, at))
  return ['not-json', `wanted ${wanted}, got ${quoted(got)}`]
}

/** Returns the fault of bytes that do not begin with a map. */
export function rootFault(bytes: Uint8Array): Fault {
  const first = bytes[0] ?? 0
  if (bytes.length === 0) return ['not-json', 'no bytes at all']
  if (first === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return ['byte-order-mark', 'byte order mark']
  }
  if ('["-0123456789tfn'.includes(String.fromCharCode(first))) {
    return ['root-not-map', 'the root is no map']
  }
  return unexpectedByte(bytes, 0, 'a map')
}

/** Returns the fault of a backslash at `at` that does not begin a canonical escape. */
export function escapeFault(bytes: Uint8Array, at: number): Fault {
  const escape = asBuffer(bytes).toString('latin1', at, at + 8)
  if (escape.startsWith('\\/')) return ['escape-form', 'needless escape "\\/"']
  const hex = /^\\u([\da-fA-F]{4})/.exec(escape)?.[1]
  if (hex === undefined) return ['not-json', 'unknown escape in a string']
  const pair = /^\\u[dD][89abAB]..\\u$/.test(escape) && isLowSurrogate(bytes, at + 8)
  if (/^[dD][89a-fA-F]/.test(hex) && !pair) {
    return ['lone-surrogate', `lone surrogate "\\u${hex}"`]
  }
  return ['escape-form', `"\\u${hex}" has another canonical form`]
}

/** Returns the fault of a number that is no plain safe integer. */
export function numberFault(bytes: Uint8Array, start: number): Fault {
  let end = start
  while (numberBytes.includes(bytes[end] ?? 0)) end += 1
  const literal = asBuffer(bytes).toString('latin1', start, end)
  if (!numberGrammar.test(literal)) return ['not-json', `${quoted(literal)} is no number`]
  switch (judgeNumber(literal)) {
    case 'fraction':
      return ['fraction', `${quoted(literal)} is no integer`]
    case 'integral-float':
      return ['number-form', `${quoted(literal)} has another canonical form`]
    case 'negative-zero':
      return ['negative-zero', `${quoted(literal)} has no canonical form`]
    case undefined:
      return unexpectedByte(bytes, end, '",", "}" or "]"')
    default:
      return ['unsafe-integer', `${quoted(literal)} is beyond ±(2^53−1)`]
  }
}

/** Returns the fault of a key that does not stand after the one before it. */
export function orderFault(previous: string, key: string): Fault {
  if (previous === key) return ['duplicate-key', `duplicate key ${quoted(key)}`]
  return ['unsorted-key', `key ${quoted(key)} stands after ${quoted(previous)}`]
}

function isLowSurrogate(bytes: Uint8Array, at: number): boolean {
  return /^[dD][c-fC-F][\da-fA-F]{2}$/.test(asBuffer(bytes).toString('latin1', at, at + 4))
}

/** `bytes` are well-formed UTF-8, and `at` is where a character begins. */
function characterAt(bytes: Uint8Array, at: number): number {
  return (
    asBuffer(bytes)
      .toString('utf8', at, at + 4)
      .codePointAt(0) ?? 0
  )
}
