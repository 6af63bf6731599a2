import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinSegments, readRelay } from '../../../src/contracts/turns/markdown.ts'
import { fileOddities } from '../../../src/contracts/turns/oddities.ts'
import {
  contentOf,
  foldBlankLines,
  isFoldingOf,
  makeTurn,
  readTurn,
} from '../../../src/contracts/turns/turn.ts'
import { validateTurns } from '../../../src/contracts/turns/validate.ts'
import { sha256 } from './run-case.ts'

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const marker = (number: string, agent: string, word: string): string =>
  `<!-- M8SHIFT:TURN ${number} ${agent} ${word} -->`

/** Pieces that relays are made of, and what nearly is one. */
const piece = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('0', '1', '1', '01', '٣', '-1'),
      fc.constantFrom('alpha', 'beta', 'Alpha'),
      fc.constantFrom('BEGIN', 'BEGIN', 'END', 'END', 'begin'),
    )
    .map((parts) => marker(...parts)),
  fc.constantFrom('\n', '\n', '\r\n', '\r', '\n\n\n', '\u2028', '\ufeff', ' ', '\t', '- to: beta'),
  fc.constantFrom('<!-- M8SHIFT:LOCK:BEGIN -->', '<!-- M8SHIFT:LOCK:END -->', 'state: IDLE', '💥'),
  fc.string({ unit: 'binary', maxLength: 6 }),
)
const soup = fc
  .array(piece, { maxLength: 60 })
  .map((pieces) => bytesOf(pieces.join('').replaceAll(/\p{Surrogate}/gu, '')))

const join = (bytes: Uint8Array): Buffer => Buffer.from(joinSegments(readRelay(bytes).segments))

describe('segments', () => {
  it('joined are the file, whatever it is', () => {
    fc.assert(fc.property(soup, (bytes) => join(bytes).equals(bytes)))
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => join(bytes).equals(bytes)))
  })

  it('are none without bytes, and hold each turn once', () => {
    fc.assert(
      fc.property(soup, (bytes) => {
        const { segments, turns } = readRelay(bytes)
        expect(segments.every(({ raw }) => raw.length > 0)).toBe(true)
        const placed = segments.flatMap((segment) =>
          segment.kind === 'turn' ? [segment.placed] : [],
        )
        expect(placed).toEqual(turns)
        for (const { turn, line } of turns) {
          expect(turn.text).toBe(makeTurn(turn.agent, turn.number, turn.text).text)
          expect(turn.text.startsWith(marker(turn.number, turn.agent, 'BEGIN'))).toBe(true)
          expect(turn.text.endsWith(marker(turn.number, turn.agent, 'END'))).toBe(true)
          expect(turn.text).not.toContain('\r')
          expect(line).toBeGreaterThan(0)
        }
      }),
    )
  })
})

describe('a turn', () => {
  it('reads alike alone and in its file', () => {
    fc.assert(
      fc.property(soup, (bytes) => {
        for (const { turn } of readRelay(bytes).turns) {
          const alone = readRelay(bytesOf(turn.text))
          expect(alone.turns.map((placed) => placed.turn)).toEqual([turn])
          expect(alone.segments).toHaveLength(1)
        }
      }),
    )
  })

  it('has another digest for every change, and one for blank lines alone', () => {
    const text = `${marker('1', 'alpha', 'BEGIN')}\n- to: beta\n\nx\n\n\n\ny\n${marker('1', 'alpha', 'END')}`
    const folded = makeTurn('alpha', '1', text).folded
    expect(makeTurn('alpha', '1', text.replace('\n\n\n\n', '\n\n\n')).folded).toBe(folded)
    expect(makeTurn('alpha', '1', text.replace('\n\n\n\n', '\n')).folded).not.toBe(folded)
    expect(makeTurn('alpha', '1', text.replace('x', 'z')).folded).not.toBe(folded)
    expect(folded).toMatch(/^[0-9a-f]{64}$/)
  })

  it('between markers that touch is empty', () => {
    const text = marker('1', 'alpha', 'BEGIN') + marker('1', 'alpha', 'END')
    expect(contentOf(text)).toBe('')
    expect(readTurn({ text })).toEqual({ fields: [], body: '' })
  })
})

describe('a folding', () => {
  it('is a change of blank lines alone', () => {
    expect(isFoldingOf('x\n\n\n\ny', 'x\n\ny')).toBe(true)
    expect(isFoldingOf('x\n\ny', 'x\n\ny')).toBe(false)
    expect(isFoldingOf('x\n\ny', 'x\ny')).toBe(false)
    expect(isFoldingOf('x\n\n\ny', 'x\n\nz')).toBe(false)
    expect(isFoldingOf('x\n \n\ny', 'x\n\ny')).toBe(false)
  })

  it('of a turn is what folding its file does to it', () => {
    fc.assert(
      fc.property(soup, (bytes) => {
        const { text, turns } = readRelay(bytes)
        const after = readRelay(bytesOf(foldBlankLines(text))).turns
        expect(after.map(({ turn }) => turn.text)).toEqual(
          turns.map(({ turn }) => foldBlankLines(turn.text)),
        )
        for (const [i, { turn }] of turns.entries()) {
          expect(after[i]!.turn.folded).toBe(turn.folded)
          expect(sha256(bytesOf(foldBlankLines(turn.text)))).toBe(turn.folded)
          const isSame = after[i]!.turn.text === turn.text
          expect(isFoldingOf(turn.text, after[i]!.turn.text)).toBe(!isSame)
        }
      }),
    )
  })
})

describe('bytes that are no UTF-8', () => {
  it('are named by offset and line, and no turn is read', () => {
    const relay = readRelay(
      new Uint8Array([...bytesOf('\ufffd one\r\ntwo\n'), 0xed, 0xa0, 0x80, 0x0a]),
    )
    expect(relay.badByte).toEqual({ offset: 13, line: 3 })
    expect(relay.turns).toEqual([])
    expect(fileOddities(relay).map(([code]) => code)).toEqual(['HS4301'])
  })

  it('crash nothing', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const { badByte, text } = readRelay(bytes)
        expect(badByte === undefined).toBe(Buffer.from(text).length >= 0 && isUtf8(bytes))
        expect(() => validateTurns({ bytes, name: 'x' })).toThrow('x: ')
      }),
    )
  })
})

function isUtf8(bytes: Uint8Array): boolean {
  return Buffer.from(Buffer.from(bytes).toString()).equals(bytes)
}

describe('time', () => {
  const lock =
    '<!-- M8SHIFT:LOCK:BEGIN -->\nholder: none\nstate: IDLE\nagents: alpha,beta\nturn: 0\n<!-- M8SHIFT:LOCK:END -->\n'
  const many = (text: (i: number) => string, count: number): Uint8Array =>
    bytesOf(lock + Array.from({ length: count }, (_, i) => text(i)).join(''))
  /** The least time of three runs that this process itself has worked: others on the machine do not count. */
  const workMs = (bytes: Uint8Array): number => {
    const runs = Array.from({ length: 3 }, () => {
      const before = process.cpuUsage()
      validateTurns({ bytes, name: 'x' })
      return process.cpuUsage(before).user / 1000
    })
    return Math.min(...runs)
  }

  it.each([
    ['BEGINs without END', (i: number) => `${marker(String(i), 'alpha', 'BEGIN')}\n`],
    ['BEGINs of one number', () => `${marker('1', 'alpha', 'BEGIN')}\n`],
    ['ENDs without BEGIN', (i: number) => `${marker(String(i), 'alpha', 'END')}\n`],
    ['BEGINs that nearly end', (i: number) => `${marker(`${i}`, 'alpha', 'BEGIN').slice(0, -3)}\n`],
    ['digits without end', () => '<!-- M8SHIFT:TURN 999999999999999999999999'],
    ['blanks', () => '                        '],
    ['turns of one number', () => `${marker('1', 'a', 'BEGIN')}${marker('1', 'a', 'END')}`],
  ])('50,000 %s take ten times as long as 5,000', (_, text) => {
    const few = workMs(many(text, 5000))
    expect(workMs(many(text, 50_000))).toBeLessThan(30 * few + 200)
  })

  it.each(['> ', ' ', '- to:\n', '\n', '\n\n\nx', '\u2028', '- a: b\n', '-'])(
    'one turn of a million times %j is read',
    (unit) => {
      const inner = `- to: beta\nx\n${unit.repeat(1_000_000)}`
      const bytes = bytesOf(`${lock}${marker('1', 'a', 'BEGIN')}${inner}${marker('1', 'a', 'END')}`)
      expect(validateTurns({ bytes, name: 'x' }).ok).toBe(true)
    },
  )

  it('one turn that swallows 50,000 is told in one line', () => {
    const [from, to] = [marker('0', 'alpha', 'BEGIN'), marker('0', 'alpha', 'END')]
    const inner = Array.from({ length: 50_000 }, (_, i) => marker(`${i + 1}`, 'beta', 'BEGIN'))
    const bytes = bytesOf(`${lock}${from}${inner.join('\n')}${to}`)
    const { advisories } = validateTurns({ bytes, name: 'x' })
    expect(advisories.map(({ code }) => code)).toEqual(['HS4304'])
    expect(advisories[0]!.message).toContain('and 49999 more')
  })

  it('tells 100 of a kind and counts the rest', () => {
    const { advisories } = validateTurns({
      bytes: many((i) => marker(String(i), 'alpha', 'BEGIN'), 4000),
      name: 'x',
    })
    expect(advisories).toHaveLength(101)
    expect(advisories.at(-1)!.message).toBe('M8SHIFT.md 3900 more of these are not listed')
  })
})
