import { describe, expect, it } from 'vitest'
import type { JsonForm } from '../../../store/canonical.ts'
import { decodeForm, encodeForm } from '../../../store/canonical.ts'
import { findRelayNote, relayForm } from '../../../src/contracts/turns/relay-body.ts'
import { findTurn, turnForm } from '../../../src/contracts/turns/turn-body.ts'
import { makeTurn } from '../../../src/contracts/turns/turn.ts'

type Form = { [key: string]: JsonForm }
const cid = 'baguqeera3nh2vniahrtm2ogfhsotbzocyw7rkgoda6w3lkammq5pz2dmp7jq'
const link = { '/': cid }
const raw = { '/': 'bafkreihmdcdq2em3s52ttlan4usuplemru2lwe7ilnpbiln7us2knzpcii' }
const text = '<!-- M8SHIFT:TURN 7 alpha BEGIN -->\n- to: beta\n<!-- M8SHIFT:TURN 7 alpha END -->'
const turn = turnForm(makeTurn('alpha', '7', text))
const note: Form = {
  head: link,
  living: ['# Title\n', { between: '\n\n', count: 2, first: 0 }, '\n'],
  turns: 2,
  version: 1,
}

describe('the body of a turn', () => {
  it('is read back', () => {
    expect(findTurn(decodeForm(encodeForm(turn)).form)).toEqual(makeTurn('alpha', '7', text))
  })

  it.each<[string, Form]>([
    ['another agent', { ...turn, agent: 'beta' }],
    ['another number', { ...turn, number: '07' }],
    ['another digest', { ...turn, folded: '0'.repeat(64) }],
    ['a key more', { ...turn, to: 'beta' }],
    ['text before it', { ...turn, text: ` ${text}` }],
    ['text behind it', { ...turn, text: `${text}\n` }],
    ['two turns', turnForm(makeTurn('alpha', '7', `${text}${text}`))],
    ['CR', turnForm(makeTurn('alpha', '7', text.replaceAll('\n', '\r\n')))],
    ['no turn', turnForm(makeTurn('alpha', '7', 'alpha'))],
    ['no text', { ...turn, text: 7 }],
  ])('is none with %s', (_, form) => {
    expect(findTurn(form)).toBeUndefined()
  })
})

describe('the body of a relay note', () => {
  it.each<[string, Form]>([
    ['a relay', note],
    ['an archive', { ...note, archive: ['# Old\n'] }],
    ['no turns', { head: null, living: ['# Title\n'], turns: 0, version: 3 }],
    ['an empty file', { head: null, living: [], turns: 0, version: 1 }],
    ['bytes', { head: null, living: [{ '/': { bytes: '/w' } }], turns: 0, version: 1 }],
    ['turns that no file has', { ...note, ahead: 2 }],
    [
      'spellings',
      {
        ...note,
        archive: [{ between: '', count: 1, first: 1, spelling: 'folded' }],
        living: [{ first: 0, text: 'a\rb' }],
      },
    ],
  ])('with %s is read back', (_, form) => {
    const found = findRelayNote(decodeForm(encodeForm(form)).form)
    expect(found && relayForm(found)).toEqual(form)
  })

  const living = (...parts: JsonForm[]): Form => ({ ...note, living: parts })
  it.each<[string, Form]>([
    ['no head', { ...note, head: null }],
    ['a head and no turns', { ...note, living: [], turns: 0 }],
    ['a head that is no entry', { ...note, head: raw }],
    ['a head that is no link', { ...note, head: cid }],
    ['a turn less', { ...note, turns: 3 }],
    ['a turn more', { ...note, turns: 1 }],
    ['a turn twice', living({ between: '', count: 2, first: 0 }, { first: 1, text: 'a' })],
    ['a turn in both files', { ...note, archive: [{ first: 1, text: 'a' }] }],
    ['a gap', living({ between: '', count: 1, first: 0 }, { between: '', count: 1, first: 2 })],
    ['no parts', { ...note, living: null }],
    ['an archive of no parts', { ...note, archive: null }],
    ['an empty text', living('', { between: '', count: 2, first: 0 })],
    ['two texts in a row', living('a', 'b', { between: '', count: 2, first: 0 })],
    ['bytes beside others', living({ '/': { bytes: '/w' } }, { between: '', count: 2, first: 0 })],
    ['no bytes', { head: null, living: [{ '/': { bytes: '' } }], turns: 0, version: 1 }],
    ['a part that is null', living(null, { between: '', count: 2, first: 0 })],
    [
      'a run of one with a gap',
      { ...note, living: [{ between: '\n', count: 1, first: 0 }], turns: 1 },
    ],
    [
      'a run of none',
      living({ between: '', count: 2, first: 0 }, { between: '', count: 0, first: 2 }),
    ],
    ['an unknown spelling', living({ between: '', count: 2, first: 0, spelling: 'cr' })],
    ['a run with a key more', living({ between: '', count: 2, first: 0, agent: 'a' })],
    [
      'a turn with a key more',
      living({ agent: 'a', first: 0, text: 'a' }, { first: 1, text: 'b' }),
    ],
    ['a place that is none', living({ between: '', count: 2, first: '0' })],
    ['a key more', { ...note, relay: 'demo' }],
    ['more turns that no file has than turns', { ...note, ahead: 3 }],
    ['no turns that no file has, said', { ...note, ahead: 0 }],
    ['version 0', { ...note, version: 0 }],
  ])('is none with %s', (_, form) => {
    expect(findRelayNote(form)).toBeUndefined()
  })
})
