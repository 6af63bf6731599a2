import { decodeForm, encodeForm } from '../../../store/canonical.ts'
import { decodeBlock, encodeBlock } from '../../../store/codec.ts'
import { parseJson, toBlockForm } from '../../../store/json-input.ts'
import { canonicalSpelling } from '../../support/one-spelling.ts'
import type { SeedFolder } from '../seeds.ts'
import type { Target } from '../target.ts'
import { bytesOfText, expectSame, expectThat, jsonMutator, verdictOf } from '../target.ts'

interface Cases {
  readonly cases: readonly { readonly text?: string; readonly loose?: string }[]
}

/** The codec, and ordinary JSON files on their way into it. */
export function blockTargets(seeds: SeedFolder): Target[] {
  const valid = seeds.json<Cases>('vectors', 'valid-blocks.json').cases
  const refused = seeds.json<Cases>('vectors', 'refused-blocks.json').cases
  const texts = [...valid, ...refused].flatMap(({ text, loose }) => [text ?? '', loose ?? ''])
  const known = texts.filter((text) => text.length > 1 && text.length < 2000).map(bytesOfText)
  const history = seeds.bytes('history', 'bundle', 'r0003.json')
  const files = ['json-parsing-suite', 'json-traps', 'json-canonical'].flatMap((set) =>
    seeds.vectors(set, /\.json$/),
  )
  const blocks = [encodeForm(toBlockForm(parseJson(history))), ...known]
  return [
    { name: 'block', share: 100, seeds: blocks, mutate: jsonMutator, run: runBlock },
    {
      name: 'json',
      share: 100,
      seeds: [history, ...known, ...files],
      mutate: jsonMutator,
      run: runJson,
    },
  ]
}

function runBlock(bytes: Uint8Array): string {
  const verdict = verdictOf(() => {
    expectSame('form', encodeForm(decodeForm(bytes).form), bytes)
    expectSame('block', encodeBlock(decodeBlock(bytes)), bytes)
  })
  const spelling = canonicalSpelling(bytes)
  const isCanonical = spelling !== undefined && Buffer.compare(spelling, bytes) === 0
  expectThat('the scanner and the writer disagree', isCanonical === (verdict === 'accepted'))
  return verdict
}

function runJson(bytes: Uint8Array): string {
  let isRead = false
  const verdict = verdictOf(() => {
    const input = parseJson(bytes)
    isRead = true
    const block = encodeForm(toBlockForm(input))
    const again = parseJson(block)
    expectThat('a block has remarks', again.remarks.length === 0)
    expectSame('normalised', encodeForm(toBlockForm(again)), block)
    expectSame('decoded', encodeForm(decodeForm(block).form), block)
  })
  if (isRead !== isNativeJson(bytes)) expectDeep(bytes)
  return verdict
}

/** The platform's parser knows no limit of depth: hstore may refuse only what is nested deeper than it says. */
function expectDeep(bytes: Uint8Array): void {
  let depth = 0
  let deepest = 0
  for (const byte of bytes) {
    if (byte === 0x5b || byte === 0x7b) deepest = Math.max(deepest, (depth += 1))
    if (byte === 0x5d || byte === 0x7d) depth -= 1
  }
  expectThat('the platform and hstore disagree on what is JSON', deepest > 512)
}

function isNativeJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
    return true
  } catch {
    return false
  }
}
