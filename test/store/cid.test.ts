import { ArgumentError } from '../../src/kernel/errors.ts'
import { CID } from 'multiformats/cid'
import { describe, expect, it } from 'vitest'
import { encodeCid, readCid } from '../../store/cid-bytes.ts'
import { cidTextOf, codecOf, digestOf, isCidText } from '../../store/cid-text.ts'
import { cidOf, parseCid, textOfCid } from '../../store/cid.ts'
import { utf8 } from './known-answers.ts'

// sha2-256 of the two bytes `{}` under both codecs, as in multiformats-cid/aliases.jsonl of the handed vectors.
const json = 'baguqeeraiqjw7i2vwntyuekgvulpp2det2kpwt6cd7tx5ayqybqpmhfk76fa'
const raw = 'bafkreicecnx2gvntm6fbcrvnc336qze6st5u7qq7457igegamd3bzkx7ri'

/** Other spellings of the same bytes, and near misses. */
const refused: readonly (readonly [string, string])[] = [
  ['padding', `${json}====`],
  ['one padding', `${json}=`],
  ['upper-case payload', `b${json.slice(1).toUpperCase()}`],
  ['upper case', json.toUpperCase()],
  ['mixed case', json.replace('q', 'Q')],
  ['overlong version', 'bqeaksaqsebcbg35dkwzwpcqri2wrn57imspjj62pyip6o7udcdagb5q4vl7yu'],
  ['overlong codec', 'baguyeaasebcbg35dkwzwpcqri2wrn57imspjj62pyip6o7udcdagb5q4vl7yu'],
  ['overlong hash', 'baguqfeqaebcbg35dkwzwpcqri2wrn57imspjj62pyip6o7udcdagb5q4vl7yu'],
  ['overlong length', 'baguqeevaabcbg35dkwzwpcqri2wrn57imspjj62pyip6o7udcdagb5q4vl7yu'],
  ['31 bytes', 'baguqeeq7iqjw7i2vwntyuekgvulpp2det2kpwt6cd7tx5ayqybqpmhfk74'],
  ['33 bytes', 'baguqeerbiqjw7i2vwntyuekgvulpp2det2kpwt6cd7tx5ayqybqpmhfk76faa'],
  ['20 bytes', 'baguqeequiqjw7i2vwntyuekgvulpp2det2kpwt6c'],
  ['no digest', 'baguqeeqa'],
  ['identity', 'baguqeaacpn6q'],
  ['sha1', 'baguqeeiux4q2t2h3ywryi35qlnh2bbm6bel3eibp'],
  ['dag-cbor', 'bafyreicecnx2gvntm6fbcrvnc336qze6st5u7qq7457igegamd3bzkx7ri'],
  ['version 0', 'QmSvPd3sHK7iWgZuW47fyLy4CaZQe2DwxvRhrJ39VpBVMK'],
  ['base58', 'z4EBG9j4hWCYsZxJJM3w4nJPBZFNQyn3ZJmdaxJz6q7PWgrd2qw'],
  ['base36', 'kkwf5os8slmelhom07jeuycwo51lxrq533989niq40hhvrby7sy8vim4q'],
  ['a byte more', `${json}a`],
  ['a character less', json.slice(0, -1)],
  ['spare bits', `${json.slice(0, -1)}b`],
  ['spare bits, raw', `${raw.slice(0, -1)}j`],
  ['a blank', ` ${json}`],
  ['a newline', `${json}\n`],
  ['a NUL', `${json}\0`],
  ['a path', `${json}/a`],
  ['a URI', `ipfs://${json}`],
  ['a dot segment', `../${json}`],
  ['a Cyrillic letter', json.replace('a', 'а')],
  ['nothing', ''],
  ['one letter', 'b'],
]

describe('parseCid', () => {
  it.each([json, raw])('gives the CID of %s back as that text', (text) => {
    expect(parseCid(text)).toBeInstanceOf(CID)
    expect(parseCid(text).toString()).toBe(text)
    expect(isCidText(text)).toBe(true)
  })

  it.each(refused)('refuses %s', (_name, text) => {
    expect(isCidText(text)).toBe(false)
    expect(() => parseCid(text)).toThrow(
      expect.objectContaining({ name: 'StoreError', code: 'HSTORE_CID_INVALID' }),
    )
  })

  it.each([undefined, null, 1, {}, ['x'], CID.parse(json)])('wants a string (%#)', (text) => {
    expect(() => parseCid(text as string)).toThrow(ArgumentError)
    expect(isCidText(text)).toBe(false)
  })

  it('says in one short line what is wrong', () => {
    expect(() => parseCid('QmSvPd3sHK7iWgZuW47fyLy4CaZQe2DwxvRhrJ39VpBVMK')).toThrow(/CIDv0/)
    expect(() => parseCid(`${json}=`)).toThrow(/padding/)
    expect(() => parseCid('x'.repeat(1e6))).toThrow(/^.{1,300}$/)
  })
})

describe('cidOf', () => {
  it('hashes the bytes under either codec', () => {
    expect(cidOf(utf8('{}'), 'dag-json').toString()).toBe(json)
    expect(cidOf(utf8('{}'), 'raw').toString()).toBe(raw)
    expect(cidOf(Buffer.from('{}'), 'raw').equals(CID.parse(raw))).toBe(true)
  })

  it('wants bytes and a codec that it knows', () => {
    expect(() => cidOf('{}' as never, 'raw')).toThrow(ArgumentError)
    expect(() => cidOf(utf8('{}'), 'dag-cbor' as never)).toThrow(ArgumentError)
  })
})

describe('binary CIDs', () => {
  it.each([json, raw])('read and write %s', (text) => {
    const bytes = CID.parse(text).bytes
    const read = readCid(Buffer.concat([bytes, utf8('block')]))
    expect(read).toEqual({
      cid: text,
      codec: text === raw ? 'raw' : 'dag-json',
      size: bytes.length,
    })
    expect(encodeCid(cidTextOf(utf8('{}'), text === raw ? 'raw' : 'dag-json'))).toEqual(bytes)
    for (let cut = 0; cut < bytes.length; cut++) {
      expect(readCid(bytes.subarray(0, cut))).toEqual(expect.any(String))
    }
  })

  it.each([
    ['0171 1220', 'codec 0x71'],
    ['0155 1114', 'hash function 0x11'],
    ['0155 1214', '20 bytes'],
    ['0155 1240', '64 bytes'],
    ['0255 1220', 'version 2'],
    ['1220', 'CIDv0'],
    ['8100 55 1220', 'longer than needed'],
    ['01d500 1220', 'longer than needed'],
    ['01 ffffffffffffff7f', 'over 7 bytes'],
    ['01', 'cut short'],
  ])('refuse %s', (hex, words) => {
    const bytes = Buffer.concat([Buffer.from(hex.replaceAll(' ', ''), 'hex'), Buffer.alloc(64, 1)])
    expect(readCid(hex === '01' ? bytes.subarray(0, 1) : bytes)).toContain(words)
  })
})

describe('the text of a CID object', () => {
  it('comes from its bytes, not from the spelling that it was parsed from', () => {
    expect(CID.parse(`${json}====`).toString()).toBe(`${json}====`)
    expect(textOfCid(CID.parse(`${json}====`))).toEqual({ text: json })
    expect(textOfCid(CID.parse(`b${json.slice(1).toUpperCase()}`))).toEqual({ text: json })
  })

  it('is refused where bytes follow', () => {
    const { bytes, code, multihash } = CID.parse(json)
    const longer = new CID(1, code, multihash, new Uint8Array([...bytes, 0]))
    expect(textOfCid(longer)).toBe('bytes after the CID')
    expect(textOfCid(new CID(1, code, multihash, new Uint8Array(0)))).toContain('cut short')
  })
})

describe('cid-text', () => {
  it('takes a CID apart', () => {
    const cid = cidTextOf(utf8('{}'), 'raw')
    expect(cid).toBe(raw)
    expect(codecOf(cid)).toBe('raw')
    expect(codecOf(cidTextOf(utf8('{}'), 'dag-json'))).toBe('dag-json')
    expect(digestOf(cid)).toEqual(CID.parse(raw).multihash.digest)
  })
})
