import { describe, expect, it } from 'vitest'
import type { Aligned, Behind, Broken } from '../../../src/contracts/turns/align.ts'
import { alignTurns } from '../../../src/contracts/turns/align.ts'
import type { Segment } from '../../../src/contracts/turns/markdown.ts'
import { joinSegments, readRelay } from '../../../src/contracts/turns/markdown.ts'
import { foldBlankLines } from '../../../src/contracts/turns/turn.ts'
import { makeTempFolder } from '../../support/temp-folder.ts'
import { diceOf } from './dice.ts'
import type { RelayText } from './relay-store.ts'
import { exportText, importText, makeRelayStore } from './relay-store.ts'
import { appended, archiveRun, draftBy, freshRelay } from './relays.ts'

const isSoak = Boolean(process.env['HSTORE_SOAK'])
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))
const bodies = [
  '',
  'One line.',
  'Two\n\nparagraphs.',
  'Space\n\n\n\nbetween.',
  '- ask: not a field\n\n\nend',
]

/** Returns a relay of 50 turns, some with blank lines that an archive run would fold. */
function longRelay(): string {
  let relay = freshRelay
  for (let i = 0; i < 49; i++) {
    const draft = draftBy(i % 2 === 0 ? 'alpha' : 'beta', {
      ask: `step ${i}`,
      body: bodies[i % bodies.length]!,
    })
    relay = appended(relay, draft)
  }
  return relay
}

const base = bytesOf(longRelay())
const parsed = readRelay(base)
const chain = parsed.turns.map(({ turn }) => turn)

/** Returns what an import would make of a relay after that of the long one. */
function judge(changed: Uint8Array): Aligned | Behind | Broken {
  const living = readRelay(changed).turns.map(({ turn }) => turn)
  const places = chain.map((_, i) => i)
  const before = {
    chain,
    archive: [],
    living: places,
    hadArchive: false,
    unseen: new Set<number>(),
    loose: [],
  }
  return alignTurns(before, { archive: [], living })
}

/** The bytes that belong to closed turns, as offsets. */
function closedOffsets(): number[] {
  const offsets: number[] = []
  let at = 0
  for (const { kind, raw } of parsed.segments) {
    if (kind === 'turn') for (let i = 0; i < raw.length; i++) offsets.push(at + i)
    at += raw.length
  }
  return offsets
}

/** Fails unless the change is found, or is one that M8Shift itself makes and is told or undone. */
function expectFound(changed: Uint8Array, what: string): void {
  const found = judge(changed)
  if (found.kind === 'broken') return expect(found.breaches.length).toBeGreaterThan(0)
  if (found.kind === 'behind') throw new Error(`${what}: told as behind`)
  const asRead = readRelay(changed).turns.map(({ turn }) => turn.text)
  const isUndone = chain.every(({ text }, i) => asRead[i] === text)
  if (isUndone) {
    const told = Buffer.from(changed).toString().replaceAll(/\r\n?/g, '\n')
    expect(told, what).toBe(Buffer.from(base).toString())
    return
  }
  expect(found.folded + found.respaced, what).toBeGreaterThan(0)
  const folded = (texts: readonly string[]): string[] => texts.map(foldBlankLines)
  expect(folded(asRead).slice(0, chain.length), what).toEqual(folded(chain.map(({ text }) => text)))
}

describe('a closed turn of a relay of 50', () => {
  const offsets = closedOffsets()
  const dice = diceOf('tamper')

  it('is not changed in any byte unseen', () => {
    const each = isSoak ? 8 : 1
    for (const offset of offsets) {
      for (let i = 0; i < each; i++) {
        const changed = base.slice()
        changed[offset] = (base[offset]! + 1 + dice.below(255)) % 256
        expectFound(changed, `byte ${offset} is ${changed[offset]}`)
      }
    }
    expect(offsets.length * each).toBeGreaterThan(2000)
  })

  it('is not cut unseen', () => {
    for (let i = 0; i < (isSoak ? 20_000 : 1000); i++) {
      const from = dice.pick(offsets)
      const length = 1 + dice.below(dice.pick([2, 20, 2000]))
      const changed = new Uint8Array(
        Buffer.concat([base.subarray(0, from), base.subarray(from + length)]),
      )
      expectFound(changed, `${length} bytes from ${from} are cut`)
    }
  })

  it('is not swapped with another, doubled or dropped unseen', () => {
    const places = parsed.segments.flatMap(({ kind }, i) => (kind === 'turn' ? [i] : []))
    const tampered: [Segment[], string][] = []
    for (const [i, a] of places.entries()) {
      for (const b of places.slice(i + 1)) {
        const swapped = [...parsed.segments]
        ;[swapped[a], swapped[b]] = [swapped[b]!, swapped[a]!]
        tampered.push([swapped, `${a} and ${b} are swapped`])
      }
      const segment = parsed.segments[a]!
      tampered.push([parsed.segments.toSpliced(a, 1), `${a} is dropped`])
      if (i < places.length - 1) {
        tampered.push([parsed.segments.toSpliced(a, 0, segment), `${a} is doubled`])
      }
    }
    for (const [segments, what] of tampered) {
      const found = judge(joinSegments(segments))
      const breaches = found.kind === 'broken' ? found.breaches : []
      expect([breaches.length, found.kind], what).not.toContain(0)
      for (const breach of breaches) {
        expect(breach.what, what).toMatch(/^(reordered|removed|inserted)$/)
      }
    }
    expect(tampered.length).toBeGreaterThan(1200)
  })

  it.each([
    ['rewritten', (text: string) => text.replace('step 7\n', 'step 8\n')],
    ['renumbered', (text: string) => text.replaceAll('TURN 9 alpha', 'TURN 90 alpha')],
    ['removed', (text: string) => text.replace(/<!-- M8SHIFT:TURN 9 alpha[^]*9 alpha END -->/, '')],
    ['removed', (text: string) => text.slice(0, text.indexOf('<!-- M8SHIFT:TURN 49 '))],
    ['removed', (text: string) => text.replace('TURN 12 beta END', 'TURN 12 beta FIN')],
  ])('%s: is told by that word', (what, change) => {
    const changed = change(Buffer.from(base).toString())
    expect(changed).not.toBe(Buffer.from(base).toString())
    const found = judge(bytesOf(changed))
    const breaches = found.kind === 'broken' ? found.breaches : []
    expect([...new Set(breaches.map((breach) => breach.what))]).toEqual([what])
  })
})

describe('a store with a relay', () => {
  it('takes legal continuations, and gives each back', async () => {
    await using store = await makeRelayStore(await makeTempFolder())
    const counts = { archived: 0, folded: 0 }
    for (let round = 0; round < (isSoak ? 400 : 35); round++) {
      const dice = diceOf(`legal ${round}`)
      let files: RelayText = { relay: freshRelay, archive: '' }
      for (let step = 0; step < 6; step++) {
        for (let i = dice.below(4); i >= 0; i--) files = stepOf(files, dice)
        const report = await importText(store, `relay ${round}`, files)
        counts.archived += report.archived
        counts.folded += report.folded
        expect(await exportText(store, `relay ${round}`)).toEqual(files)
        const again = await importText(store, `relay ${round}`, files)
        expect(again).toMatchObject({ new: false, added: 0, cid: report.cid })
      }
    }
    expect(counts.archived).toBeGreaterThan(10)
    expect(counts.folded).toBeGreaterThan(10)
    expect((await store.verify()).ok).toBe(true)
  })
})

describe('calls at once', () => {
  it('go one after the other, each on what the one before left', async () => {
    await using store = await makeRelayStore(await makeTempFolder())
    const relays = [freshRelay]
    for (let i = 0; i < 6; i++) {
      relays.push(appended(relays.at(-1)!, draftBy(i % 2 ? 'beta' : 'alpha')))
    }
    const reports = await Promise.all(
      relays.flatMap((relay) => [
        importText(store, 'demo', { relay, archive: '' }),
        importText(store, 'demo', { relay, archive: '' }),
      ]),
    )
    expect(reports.map(({ added }) => added)).toEqual([1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0])
    const older = importText(store, 'demo', { relay: relays[3]!, archive: '' })
    await expect(older).rejects.toMatchObject({ code: 'HSTORE_RELAY_CHANGED' })
    expect((await store.heads()).filter(({ stream }) => stream === 'm8:demo')).toHaveLength(1)
    expect(await store.turns.log('demo')).toHaveLength(7)
  })
})

/** Returns files after one thing that M8Shift, its host or its reader does. */
function stepOf({ relay, archive }: RelayText, dice: ReturnType<typeof diceOf>): RelayText {
  switch (dice.below(6)) {
    case 0:
      return archiveRun(relay, archive, dice.below(4))
    case 1:
      return { relay: relay.replaceAll(/\r\n?|\n/g, dice.pick(['\r\n', '\n', '\r'])), archive }
    case 2:
      return { relay: `${relay}\nA loose remark ${dice.below(9)}.\n`, archive }
    default:
      // whatever writes the relay makes its line ends LF first
      return {
        relay: appended(
          relay.replaceAll(/\r\n?/g, '\n'),
          draftBy(dice.pick(['alpha', 'beta']), {
            ask: `ask ${dice.below(3)}`,
            body: dice.pick(bodies),
          }),
        ),
        archive,
      }
  }
}
