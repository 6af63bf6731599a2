import { describe, expect, it } from 'vitest'
import { findStream, streamPattern } from '../../../src/graph/stream-names.ts'

const streams = ['csag:csag:handoff/a', 'csag:csag:handoff/a', 'lane:tides', 'm8:tides', 'roster']

describe('findStream', () => {
  it.each([
    ['csag:csag:handoff/a', 'csag:csag:handoff/a'],
    ['csag:handoff/a', 'csag:csag:handoff/a'],
    ['lane:tides', 'lane:tides'],
    ['roster', 'roster'],
    ['handoff/a', undefined],
    ['csag:handoff/', undefined],
    ['', undefined],
  ])('takes %j for %j', (name, stream) => {
    expect(findStream(streams, name)).toBe(stream)
  })

  it('names both where two families have the name', () => {
    expect(() => findStream(streams, 'tides')).toThrowError(
      expect.objectContaining({
        code: 'HSTORE_REF_AMBIGUOUS',
        details: { ref: 'tides', candidates: ['lane:tides', 'm8:tides'] },
      }),
    )
  })
})

describe('streamPattern', () => {
  it.each([
    ['*', '*'],
    ['csag:*', 'csag:*'],
    ['csag:handoff/a', 'csag:csag:handoff/a'],
    ['csag:handoff/later', 'csag:handoff/later'],
    ['roster', 'roster'],
  ])('takes %j for %j', (text, pattern) => {
    expect(streamPattern(streams, text)).toBe(pattern)
  })

  it.each(['', 'nope', 'roster:x', '**', 'm8:*:x', ':x', 'csag:', 'csag:a\nb'])(
    'refuses %j',
    (text) => {
      expect(() => streamPattern(streams, text)).toThrowError(
        expect.objectContaining({ code: 'HSTORE_USAGE' }),
      )
    },
  )
})
