/** What a number literal is beyond a plain safe integer. */
export type NumberRemark =
  | 'fraction'
  | 'integral-float'
  | 'long-integer'
  | 'negative-zero'
  | 'unsafe-integer'

/** Integers of more digits are not JSON to readers that cap them (CPython's default is this figure). */
const MAX_INTEGER_DIGITS = 4300

/**
 * Returns what is to be said of a JSON number, judged on its digits and not on the nearest double; undefined for a
 * plain integer within ±(2^53−1).
 *
 * @param literal - A number by the grammar of RFC 8259.
 */
export function judgeNumber(literal: string): NumberRemark | undefined {
  if (/^-?[1-9]\d{0,14}$/.test(literal)) return undefined
  const negative = literal.startsWith('-')
  const unsigned = negative ? literal.slice(1) : literal
  if (!/[.eE]/.test(unsigned)) return judgeInteger(literal, unsigned.length, negative)
  return judgeFloat(literal, unsigned, negative)
}

function judgeFloat(literal: string, unsigned: string, negative: boolean): NumberRemark {
  const [mantissa = '', exponentText = '0'] = unsigned.split(/[eE]/)
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = whole + fraction
  const first = digits.search(/[1-9]/)
  if (first < 0) return negative ? 'negative-zero' : 'integral-float'
  const last = lastNonZero(digits)
  const exponent = Number(exponentText) - fraction.length + (digits.length - 1 - last)
  if (exponent < 0) return 'fraction'
  const size = last - first + 1 + exponent
  if (size > 16 || !Number.isSafeInteger(Number(literal))) return 'unsafe-integer'
  return 'integral-float'
}

function judgeInteger(
  literal: string,
  digits: number,
  negative: boolean,
): NumberRemark | undefined {
  if (digits > MAX_INTEGER_DIGITS) return 'long-integer'
  const value = Number(literal)
  if (!Number.isSafeInteger(value)) return 'unsafe-integer'
  return negative && value === 0 ? 'negative-zero' : undefined
}

function lastNonZero(digits: string): number {
  let at = digits.length - 1
  while (digits.charCodeAt(at) === 0x30) at--
  return at
}
