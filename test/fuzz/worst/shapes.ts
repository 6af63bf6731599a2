import { bytesOfText } from '../target.ts'

/** A name, and what makes the bytes. */
export type Shape = readonly [name: string, make: () => Uint8Array]

/** Bytes of the inputs: what a block may have. */
export const size: number = 2 * 1024 * 1024

function filled(part: string, room = size): string {
  return part.repeat(Math.floor(room / part.length))
}

function listOf(item: string): string {
  return `{"a":[${filled(`${item},`).slice(0, -20)}`.replace(/,?[^,]*$/, '') + ']}'
}

function mapOf(count: number, key: (i: number) => string): string {
  return `{${Array.from({ length: count }, (_, i) => `"${key(i)}":0`).join(',')}}`
}

const inString = (part: string): string => `{"a":"${filled(part, size - 20)}"}`
const textOf = (name: string, make: () => string): Shape => [name, () => bytesOfText(make())]

/** 60 levels, each with a list of its own. */
function wideLevels(): string {
  let text = '0'
  for (let level = 0; level < 60; level++) text = `{"a":${text},"b":[${filled('0,', 34_000)}0]}`
  return text
}

/** Long keys on the way to many things that are to be remarked: pointers grow large. */
function longWay(levels: number, keyLength: number): string {
  const key = 'k'.repeat(keyLength)
  const list = filled('0.1,', size - levels * (keyLength + 6))
  return `${`{"${key}":`.repeat(levels)}[${list}0]${'}'.repeat(levels)}`
}

/** Shapes of JSON that cost a reader most. */
export const shapes: readonly Shape[] = [
  textOf('open lists', () => filled('[')),
  textOf('open maps', () => filled('{"a":')),
  textOf('open links', () => filled('{"/":')),
  textOf('one string', () => inString('x')),
  textOf('escaped NUL', () => inString(String.raw`\u0000`)),
  textOf('escaped quotes', () => inString(String.raw`\"`)),
  textOf('escaped slashes', () => inString(String.raw`\/`)),
  textOf('lone surrogates in one string', () => inString(String.raw`\ud800`)),
  textOf('lone surrogates in many', () => listOf(String.raw`"\ud800"`)),
  textOf('a string without end', () => `{"a":"${filled('é')}`),
  textOf('one integer', () => `{"a":${filled('9')}}`),
  textOf('one fraction', () => `{"a":0.${filled('0')}1}`),
  textOf('one exponent', () => `{"a":1e${filled('9')}}`),
  textOf('zeros and a negative exponent', () => `{"a":1${filled('0')}e-${size}}`),
  textOf('a fraction without end', () => `{"a":-1${filled('1')}.}`),
  textOf('white space', () => `{"a":1${filled(' ')}}`),
  textOf('lines before a fault', () => `${filled('\n')}x`),
  textOf('pairs before a fault', () => `{"a":"${filled('😀')}`),
  textOf('a link of 2 MiB', () => `{"a":{"/":"${filled('b')}"}}`),
  textOf('bytes of 2 MiB', () => `{"a":{"/":{"bytes":"${filled('A', size - 40)}"}}}`),
  textOf('many integers', () => listOf('1')),
  textOf('many fractions', () => listOf('0.1')),
  textOf('many negative zeros', () => listOf('-0')),
  textOf('many large integers', () => listOf('9007199254740993')),
  textOf('many empty maps', () => listOf('{}')),
  textOf('many empty lists', () => listOf('[]')),
  textOf('many bytes forms', () => listOf('{"/":{"bytes":""}}')),
  textOf('one key many times', () => mapOf(400_000, () => '')),
  textOf('keys like indexes', () => mapOf(149_000, (i) => String(4_294_967_290 - i).slice(-10))),
  textOf('small indexes', () => mapOf(200_000, (i) => String(i))),
  textOf('keys backwards', () => mapOf(174_000, (i) => `k${999_999 - i}`)),
  textOf('keys in order', () => mapOf(174_000, (i) => `k${100_000 + i}`)),
  textOf('escaped keys', () => mapOf(120_000, (i) => String.raw`\u001f${100_000 + i}`)),
  textOf('keys with one long start', () => mapOf(2000, (i) => `${'p'.repeat(1000)}${10_000 + i}`)),
  textOf('keys with an escaped start', () =>
    mapOf(2000, (i) => `${String.raw`\n`.repeat(500)}${10_000 + i}`),
  ),
  textOf('keys of one hash', () => mapOf(72_000, (i) => pairsOf(i))),
  textOf('wide levels', wideLevels),
  textOf('fractions below a long key', () => longWay(1, 1_000_000)),
  textOf('fractions below long keys', () => longWay(60, 15_000)),
  textOf('fractions below many keys', () => longWay(500, 2000)),
]

/** Texts of which many have one sum of units times a power of 31: equal hashes where that is how one hashes. */
function pairsOf(i: number): string {
  return i.toString(2).padStart(18, '0').replaceAll('0', 'Aa').replaceAll('1', 'BB').slice(-12)
}
