import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeForm, encodeForm } from '../../../store/canonical.ts'
import { readRelay } from '../../../src/contracts/turns/markdown.ts'
import { findRelayNote, relayForm } from '../../../src/contracts/turns/relay-body.ts'
import { fileOfParts, partsOfRelay } from '../../../src/contracts/turns/relay-parts.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'
import { importText, makeRelayStore } from './relay-store.ts'
import { appended, draftBy, freshRelay } from './relays.ts'

const head = 'baguqeera3nh2vniahrtm2ogfhsotbzocyw7rkgoda6w3lkammq5pz2dmp7jq'
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))

/** Returns what a note keeps of a file, written and read back; the chain has the turns with `spelt` done to them. */
function kept(bytes: Uint8Array, spelt: (text: string) => string): Uint8Array {
  const relay = readRelay(bytes)
  const texts = relay.turns.map(({ turn }) => spelt(turn.text))
  const textOf = (place: number): string => texts[place]!
  const living = partsOfRelay(relay, [...texts.keys()], textOf)
  const note = {
    living,
    archive: undefined,
    head: texts.length === 0 ? undefined : head,
    ahead: 0,
    turns: texts.length,
    version: 1,
  }
  const { form } = decodeForm(encodeForm(relayForm(note as Parameters<typeof relayForm>[0])))
  return fileOfParts(findRelayNote(form)!.living, textOf)
}

describe('the parts of a relay', () => {
  const marker = fc
    .record({
      number: fc.constantFrom('1', '2', '٣'),
      agent: fc.constantFrom('a', 'b'),
      word: fc.constantFrom('BEGIN', 'END'),
    })
    .map(({ number, agent, word }) => `<!-- M8SHIFT:TURN ${number} ${agent} ${word} -->`)
  const piece = fc.oneof(
    { weight: 6, arbitrary: marker },
    { weight: 6, arbitrary: fc.constantFrom('\n', '\n\n', '\n\n\n\n', '\r\n', '\r', '- to: b\n') },
    { weight: 2, arbitrary: fc.string({ unit: 'grapheme' }) },
    { weight: 1, arbitrary: fc.constantFrom('\ufeff', '\u0000', '\u2028', '—') },
  )

  it.each([
    ['as they are', (text: string) => text],
    ['with other blank lines', (text: string) => text.replaceAll(/\n+/g, '\n\n\n\n')],
  ])('joined are the file, its turns in the chain %s', (_, spelt) => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const bytes = bytesOf(pieces.join(''))
        expect(Buffer.from(kept(bytes, spelt)).equals(bytes)).toBe(true)
      }),
      { numRuns: process.env['HSTORE_SOAK'] ? 50_000 : 1000 },
    )
  })

  it('joined are the file where it is no UTF-8', () => {
    for (const bytes of [
      Uint8Array.of(0xff),
      Uint8Array.of(0x61, 0xc3),
      Uint8Array.of(0xed, 0xa0, 0x80),
    ]) {
      expect(kept(bytes, (text) => text)).toEqual(bytes)
    }
  })

  it.each([
    ['LF', '\n'],
    ['CRLF', '\r\n'],
  ])('are few for a long relay with %s', (_, end) => {
    let relay = freshRelay
    for (let i = 0; i < 200; i++) relay = appended(relay, draftBy(i % 2 ? 'beta' : 'alpha'))
    const read = readRelay(bytesOf(relay.replaceAll('\n', end)))
    const texts = read.turns.map(({ turn }) => turn.text)
    const parts = partsOfRelay(read, [...texts.keys()], (place) => texts[place]!)
    expect(parts).toHaveLength(3)
  })
})

describe('a relay of 5,000 turns', () => {
  const turns = (count: number): string => {
    const blocks = Array.from({ length: count }, (_, i) => {
      const agent = i % 2 === 0 ? 'alpha' : 'beta'
      return `<!-- M8SHIFT:TURN ${i + 1} ${agent} BEGIN -->\n- ask: step ${i}\n\nDone.\n<!-- M8SHIFT:TURN ${i + 1} ${agent} END -->\n`
    })
    return `${freshRelay}\n${blocks.join('\n')}`
  }
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const start = performance.now()
    await work()
    return performance.now() - start
  }

  it('goes in, in again and out in time that grows with their number', async () => {
    await using store = await makeRelayStore(await makeTempFolder())
    const times: number[] = []
    for (const count of [500, 5000]) {
      const files = { relay: turns(count), archive: '' }
      const name = `of ${count}`
      times.push(
        await timed(async () => {
          const report = await importText(store, name, files)
          expect(report).toMatchObject({ added: count + 1, new: true })
          expect(await importText(store, name, files)).toMatchObject({ added: 0, new: false })
          const { living } = await store.turns.export(name)
          expect(Buffer.from(living).toString()).toBe(files.relay)
        }),
      )
    }
    // ten times the turns; three times that is left to a busy machine
    expect(times[1]! / times[0]!).toBeLessThan(30)
  })

  it('is none of 4,000 unclosed BEGINs, in as little time', async () => {
    await using store = await makeRelayStore(await makeTempFolder())
    const begin = (i: number): string => `<!-- M8SHIFT:TURN ${i} alpha BEGIN -->\n`
    const relay = freshRelay + Array.from({ length: 4000 }, (_, i) => begin(i + 1)).join('')
    const spent = await timed(async () => {
      const report = await importText(store, 'unclosed', { relay, archive: '' })
      expect(report).toMatchObject({ turns: 1, added: 1 })
      expect(report.findings.length).toBe(101) // the first hundred, and how many more there are
    })
    expect(spent).toBeLessThan(5000)
  })
})
