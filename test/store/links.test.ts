import { describe, expect, it } from 'vitest'
import { linkForm } from '../../store/canonical.ts'
import type { CidText } from '../../store/cid-text.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { linksIn } from '../../store/links.ts'

const cidOf = (text: string): CidText => cidTextOf(Buffer.from(text), 'raw')
const [a, b] = [cidOf('a'), cidOf('b')]

describe('linksIn', () => {
  it('finds links wherever they stand, each once', () => {
    const form = {
      list: [linkForm(a), { deep: [[linkForm(b)], linkForm(a)] }],
      text: a,
      none: null,
    }
    expect(linksIn(form)).toHaveLength(2)
    expect(new Set(linksIn(form))).toEqual(new Set([a, b]))
  })

  it('reads lists as long as a body can hold', () => {
    const long: (number | ReturnType<typeof linkForm>)[] = Array.from(
      { length: 1_000_000 },
      () => 0,
    )
    expect(linksIn({ long: [...long, linkForm(a)] })).toEqual([a])
  })
})
