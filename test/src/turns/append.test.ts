import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { appendTurn, formatTurn } from '../../../src/contracts/turns/append.ts'
import type { TurnDraft } from '../../../src/contracts/turns/draft.ts'
import { flagFields } from '../../../src/contracts/turns/draft.ts'
import { readRelay } from '../../../src/contracts/turns/markdown.ts'
import { linesOf, trim } from '../../../src/contracts/turns/text.ts'
import { isFoldingOf, readTurn } from '../../../src/contracts/turns/turn.ts'
import { validateTurns } from '../../../src/contracts/turns/validate.ts'
import { claimed } from './drafts.ts'
import { appended, archiveRun, draftBy, freshRelay } from './relays.ts'

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const append = (draft: TurnDraft, relay = freshRelay): string =>
  Buffer.from(appendTurn(claimed(bytesOf(relay), draft.agent), draft, 'r').bytes).toString()
const lastOf = (relay: string): ReturnType<typeof readTurn> & { text: string } => {
  const { turn } = readRelay(bytesOf(relay)).turns.at(-1)!
  return { ...readTurn(turn), text: turn.text }
}

describe('an appended turn', () => {
  it('is laid out as M8Shift does, and hands the pen on', () => {
    const relay = append(
      draftBy('alpha', {
        ask: ' check the retry loop ',
        model: 'm-1',
        effort: 'HIGH',
        flags: { schema: 'stage4.v1', relation: 'handoff', branch: 'feat/x', stance: 'FOR:x' },
        fields: ['x_ticket=T-9', 'zzz=a=b', 'aaa=1', 'x_none= '],
        body: 'First line.\n\nLast line.\n\n',
      }),
    )
    expect(relay.slice(relay.indexOf('relay made'))).toBe(`relay made
- files:   —
- handoff: none
<!-- M8SHIFT:TURN 0 system END -->

<!-- M8SHIFT:TURN 1 alpha BEGIN -->
- from:    alpha
- to:      beta
- ask:     check the retry loop
- done:    so far
- files:   —
- handoff: beta
- at:      2026-01-01T00:00:00Z
- model:   m-1
- effort:  high
- branch: feat/x
- relation: handoff
- schema: stage4.v1
- stance: FOR:x
- x_ticket: T-9
- zzz: a=b
- aaa: 1

First line.

Last line.
<!-- M8SHIFT:TURN 1 alpha END -->
`)
    expect(relay).toContain(`holder:   beta
state:    AWAITING_BETA
agents:   alpha,beta
lang:     en
turn:     1
since:    2026-01-01T00:00:00Z
expires:  -
note:     turn 1 posted by alpha, awaiting beta
<!--`)
  })

  it('keeps loose text, BOM and unknown keys of the LOCK block, and makes CR to LF', () => {
    const relay = append(
      draftBy('alpha'),
      `\ufeff${freshRelay.replace('lang:', 'weather:  dull\nnonsense\nlang:')}loose\r\n\r\n`,
    )
    expect(relay.startsWith('\ufeff# M8Shift')).toBe(true)
    expect(relay).toContain('weather:  dull\nlang:')
    expect(relay).not.toContain('nonsense')
    expect(relay).toContain('END -->\nloose\n\n<!-- M8SHIFT:TURN 1 alpha BEGIN')
  })

  it('takes model and effort from the LOCK block, and passes over what is none', () => {
    const relay = freshRelay.replace('lang:', 'models:   alpha=m-2\nefforts:  alpha=low\nlang:')
    expect(lastOf(append(draftBy('alpha'), relay)).text).toContain(
      '- model:   m-2\n- effort:  low\n',
    )
    expect(lastOf(append(draftBy('beta'), relay)).text).not.toContain('model')
    const odd = draftBy('alpha', { model: 'two words', effort: 'much' })
    expect(lastOf(append(odd)).text).not.toMatch(/model|effort/)
  })

  it('disarms markers in its body, in prose too', () => {
    const body = '<!-- M8SHIFT:TURN 1 alpha END --> M8SHIFT: M8SHIFT\u200b:x m8shift:turn'
    expect(lastOf(append(draftBy('alpha', { body }))).body).toBe(
      '<!-- M8SHIFT\u200b:TURN 1 alpha END --> M8SHIFT\u200b: M8SHIFT\u200b:x m8shift:turn',
    )
  })
})

describe('a turn is refused', () => {
  const cases: readonly (readonly [why: string, more: Partial<TurnDraft>, isTaken?: true])[] = [
    ['with two lines in a field', { ask: 'a\nb' }],
    ['with a form feed in a field', { files: 'a\fb' }],
    ['with U+0085 in a field', { fields: ['x=a\u0085b'] }],
    ['with U+001F in a field', { ask: 'a\u001fb' }, true],
    ['with white space at the ends', { ask: '\u2028a\n' }, true],
    ['with a marker word', { flags: { next: 'xM8SHIFT:STANZAx' } }],
    ['with what is no marker word', { ask: 'M8SHIFT:NOTE M8SHIFT:' }, true],
    ['with a field past the limit', { ask: 'é'.repeat(32_769) }],
    ['with a field at the limit', { ask: 'é'.repeat(32_768) }, true],
    ['with half a character', { ask: '\ud83d' }],
    ['with half a character in its body', { body: '\ude00' }],
    ['with a second at', { fields: ['at=1999-01-01T00:00:00Z'] }],
    ['with a second from', { fields: ['from=beta'] }],
    ['with a model as a field', { fields: ['model=x'] }],
    ['with a capital in a key', { fields: ['X=1'] }],
    ['with a bad key and no value', { fields: ['9a='] }],
    ['without a key', { fields: ['=1'] }],
    ['without =', { fields: ['x_a'] }],
    ['with one field twice', { fields: ['x=1', 'x=2'] }],
    ['with one field twice, once blank', { fields: ['x= ', 'x=2'] }, true],
    ['with a flag and a field alike', { flags: { schema: 'a' }, fields: ['schema=b'] }],
    ['with a large body', { body: 'x'.repeat(262_145) }],
    ['with a large body, allowed', { body: 'x'.repeat(262_145), allowLargeBody: true }, true],
    ['with a body at the limit', { body: `${'x'.repeat(262_144)}\r\n\n` }, true],
    ['to its own author', { to: 'alpha' }],
    ['to a stranger', { to: 'gamma' }],
    ['to nobody', { to: 'none' }],
    ['to another case', { to: 'Beta' }],
  ]

  it.each(cases.map(([why, more, isTaken]) => ({ why, more, isTaken })))(
    '$why',
    ({ more, isTaken }) => {
      const write = (): string => append(draftBy('alpha', more))
      if (isTaken === true) expect(readRelay(bytesOf(write())).turns).toHaveLength(2)
      else expect(write).toThrow(expect.objectContaining({ code: 'HSTORE_TURN_REFUSED' }))
    },
  )

  it('by an agent without the pen, or in a file that M8Shift refuses', () => {
    const write = (text: string): unknown => appendTurn(bytesOf(text), draftBy('alpha'), 'r')
    expect(() => write(freshRelay)).toThrow(
      expect.objectContaining({ code: 'HSTORE_TURN_REFUSED' }),
    )
    expect(() => write('none')).toThrow(expect.objectContaining({ code: 'HSTORE_RELAY_INVALID' }))
  })
})

const line = fc.string({ unit: 'binary', maxLength: 20 }).map((text) =>
  linesOf(text)
    .join('')
    .replaceAll(/\p{Surrogate}/gu, ''),
)
const body = fc
  .array(fc.oneof(line, fc.constantFrom('', '- to: beta', 'M8SHIFT:TURN', '<!-- M8SHIFT:LOCK')))
  .map((lines) => lines.join('\n'))

describe('what is written', () => {
  it('is read back', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...flagFields), line, { noNullPrototype: true }),
        line,
        body,
        (flags, ask, body) => {
          const draft = draftBy('beta', { flags, ask, body, fields: ['x_last=1'] })
          const read = lastOf(append(draft))
          const given = flagFields.flatMap((key) => {
            const value = trim(flags[key] ?? '')
            return value === '' ? [] : [{ key, value }]
          })
          expect(read.fields.slice(7, -1)).toEqual(given)
          expect(read.fields[2]).toEqual({ key: 'ask', value: trim(ask) || '—' })
          const disarmed = body.replaceAll('M8SHIFT:', 'M8SHIFT\u200b:')
          expect(read.body).toBe(trim(linesOf(disarmed).join('\n')))
        },
      ),
    )
  })

  it('from what was read is what was read', () => {
    const { turns } = readRelay(bytesOf(append(draftBy('alpha', { body: 'one\n\ntwo' }))))
    const { turn } = turns.at(-1)!
    const { fields, body } = readTurn(turn)
    expect(formatTurn(turn.number, turn.agent, fields, body)).toBe(turn.text)
  })

  it('and archived again and again is odd in nothing, and rewritten in nothing', () => {
    const step = fc.oneof(
      body.map((body) => ({ body, keep: undefined })),
      fc.nat({ max: 6 }).map((keep) => ({ body: '', keep })),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        let [relay, archive, count] = [freshRelay, '', 0]
        for (const { body, keep } of steps) {
          const before = readRelay(bytesOf(relay)).turns
          if (keep === undefined) {
            relay = appended(relay, draftBy(count++ % 2 === 0 ? 'alpha' : 'beta', { body }))
          } else ({ relay, archive } = archiveRun(relay, archive, keep))
          const after = [...readRelay(bytesOf(archive)).turns, ...readRelay(bytesOf(relay)).turns]
          for (const { turn } of before) {
            const same = after.find((other) => other.turn.number === turn.number)!.turn
            expect(same.text === turn.text || isFoldingOf(turn.text, same.text)).toBe(true)
          }
        }
        const { advisories } = validateTurns(
          { bytes: bytesOf(relay), name: 'r' },
          { bytes: bytesOf(archive), name: 'a' },
        )
        expect(advisories).toEqual([])
        const alone = validateTurns({ bytes: bytesOf(relay), name: 'r' })
        expect(alone.advisories).toEqual([])
      }),
    )
  })
})
