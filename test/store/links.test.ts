import { describe, expect, it } from 'vitest'
import { linkForm } from '../../store/canonical.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { linksIn } from '../../store/links.ts'

const [a, b] = ['a', 'b'].map((text) => cidTextOf(Buffer.from(text), 'raw')) as [never, never]

describe('linksIn', () => {
  it('finds links wherever they stand, each once', () => {
    const form = {
      list: [linkForm(a), { deep: [[linkForm(b)], linkForm(a)] }],
      text: a,
      none: null,
    }
    expect([...linksIn(form)].sort()).toEqual([a, b].sort())
  })

  it('reads lists as long as a body can hold', () => {
    const long: (number | ReturnType<typeof linkForm>)[] = Array.from(
      { length: 1_000_000 },
      () => 0,
    )
    expect(linksIn({ long: [...long, linkForm(a)] })).toEqual([a])
  })
})
