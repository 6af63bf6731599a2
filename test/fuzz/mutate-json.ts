import type { Dice } from './dice.ts'
import { oddKeys, oddLiterals } from './odd-values.ts'

const tokenForm = /"(?:[^"\\]|\\[^])*"?|[-+.\w]+|\s+|[^]/g
const isValue = /^["\d\-tfn]/
const numbers =
  '0 -0 00 1.0 1e2 1E+2 10e-1 0.1e1 -1 +1 .5 1. 1e 9007199254740991 9007199254740992 -9007199254740993 1e308 1e309 1e-400 0x1 NaN Infinity'.split(
    ' ',
  )

/** Longer mutants tell no more, and are built for the most part of their time. */
const maxLength = 256 * 1024

type Change = (tokens: string[], at: number, dice: Dice) => void

/** Ends of the member or item that begins at a token: the commas and brackets around it. */
function endOf(tokens: readonly string[], at: number): number {
  let depth = 0
  for (let i = at; i < tokens.length; i++) {
    const token = tokens[i]!
    if ('[{'.includes(token)) depth += 1
    if (depth === 0 && ',]}'.includes(token)) return i
    if (']}'.includes(token)) depth -= 1
  }
  return tokens.length
}

function escapeOne(token: string, dice: Dice): string {
  const at = 1 + dice.below(Math.max(1, token.length - 2))
  const hex = token.charCodeAt(at).toString(16).padStart(4, '0')
  return `${token.slice(0, at)}\\u${dice.isBelow(50) ? hex : hex.toUpperCase()}${token.slice(at + 1)}`
}

const inString = [
  String.raw`\/`,
  String.raw`\u0000`,
  String.raw`\ud800`,
  String.raw`\udc00\ud800`,
  String.raw`\ud83d\ude00`,
  String.raw`\u00e9`,
  String.raw`\x`,
  String.raw`\u12`,
  '\u0000',
  '\u2028',
  '\u{10ffff}',
  '\\',
  '\t',
]

const changes: readonly Change[] = [
  function value(tokens, at, dice) {
    tokens[at] = dice.pick(oddLiterals)
  },
  function number(tokens, at, dice) {
    tokens[at] = dice.pick(numbers)
  },
  function key(tokens, at, dice) {
    tokens[at] = JSON.stringify(dice.pick(oddKeys))
  },
  function spelling(tokens, at, dice) {
    tokens[at] = escapeOne(tokens[at]!, dice)
  },
  function character(tokens, at, dice) {
    const token = tokens[at]!
    const place = 1 + dice.below(Math.max(1, token.length - 1))
    tokens[at] = token.slice(0, place) + dice.pick(inString) + token.slice(place)
  },
  function remove(tokens, at) {
    tokens.splice(at, 1)
  },
  function double(tokens, at) {
    tokens.splice(at, 0, tokens[at]!)
  },
  function doublePart(tokens, at) {
    tokens.splice(at, 0, ...tokens.slice(at, endOf(tokens, at)), ',')
  },
  function removePart(tokens, at) {
    tokens.splice(at, endOf(tokens, at) - at + 1)
  },
  function swapParts(tokens, at) {
    const end = endOf(tokens, at)
    const next = endOf(tokens, end + 1)
    tokens.splice(at, next - at, ...tokens.slice(end + 1, next), ',', ...tokens.slice(at, end))
  },
  function wide(tokens, at, dice) {
    const part = tokens.slice(at, endOf(tokens, at))
    const times = Math.min(dice.pick([10, 100, 1000]), Math.ceil(2000 / (part.length + 1)))
    tokens.splice(at, 0, Array.from({ length: times }, () => `${part.join('')},`).join(''))
  },
  function deep(tokens, at, dice) {
    const [open, close] = dice.pick([
      ['[', ']'],
      ['{"a":', '}'],
      ['{"/":', '}'],
      ['[', ''],
    ] as const)
    const depth = dice.pick([1, 2, 30, 61, 65, 510, 600])
    tokens[at] = `${open.repeat(depth)}${tokens[at]!}${close.repeat(depth)}`
  },
  function space(tokens, at, dice) {
    tokens.splice(at, 0, dice.pick([' ', '\n', '\t', '\r\n', '\u00a0', '\ufeff', '\f', '//x\n']))
  },
  function cut(tokens, at) {
    tokens.splice(at)
  },
]

/** Returns JSON text with one to three changes at its tokens; what comes out is JSON or nearly so. */
export function mutateJson(text: string, dice: Dice): string {
  let changed = text
  for (let left = dice.pick([1, 1, 2, 3]); left > 0; left--) {
    const tokens = changed.match(tokenForm) ?? []
    const values = tokens.flatMap((token, i) => (isValue.test(token) ? [i] : []))
    const at = values.length > 0 && dice.isBelow(90) ? dice.pick(values) : dice.below(tokens.length)
    if (at < tokens.length) dice.pick(changes)(tokens, at, dice)
    const next = tokens.join('')
    if (next.length <= maxLength) changed = next
  }
  return changed
}
