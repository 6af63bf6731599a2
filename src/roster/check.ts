import type { Entry } from '../entry/entry.ts'
import type { ReadCut, Standing, Trust } from '../trust/standing.ts'
import type { Grant } from '../trust/roster.ts'
import { fitsPattern } from '../trust/roster.ts'
import { grantTexts } from './grants.ts'

/** Why an entry is worth what it is worth. */
export interface Checked extends Standing {
  readonly cid: string
  readonly kind: string
  readonly stream: string
  readonly author: string
  readonly signer: string
  readonly roster: number
  /** The steps that led there, in words, one a line. */
  readonly lines: readonly string[]
}

/** Returns the standing of an entry and, in words, how it follows from the roster. */
export function checkEntry(trust: Trust, entry: Entry): Checked {
  const { cid, kind, stream, author, signer } = entry
  const { version } = trust.roster
  const standing = trust.standingOf(entry)
  const at = { cid, kind, stream, author, signer, roster: version }
  return { ...standing, ...at, lines: [...linesOf(trust, entry), conclusion(standing)] }
}

function conclusion({ standing, code, why }: Standing): string {
  if (standing === 'valid') return 'so it is valid'
  const word = standing === 'unknown' ? 'of an unknown signer' : standing
  return `so it is ${word} (${code}): ${why}`
}

function linesOf(trust: Trust, entry: Entry): string[] {
  const { author, signer, store, kind } = entry
  if (store !== trust.genesis)
    return [`it was made for the store ${store}, this one is ${trust.genesis}`]
  if (kind === 'roster') return rosterLines(trust, entry)
  const holder = trust.findKey(signer)
  if (holder === undefined)
    return [`roster version ${trust.roster.version} does not know ${signer}`]
  const { agent, key } = holder
  const known = trust.path.indexOf(entry.roster)
  return [
    `its signature stands; the signer is a key of ${agent.id} (${key.level}, on ${key.machine}) in roster version ${trust.roster.version}`,
    author === agent.id
      ? `it speaks for ${author}, whose key that is`
      : `it speaks for ${author}, and the key is ${agent.id}'s`,
    ...(kind === 'freeze'
      ? ['a key may always freeze itself']
      : key.grants.map((grant) => grantWords(trust, entry, grant))),
    ...freezeLines(trust, entry),
    known < 0
      ? `it rests on the roster ${entry.roster}, which is not accepted here`
      : `it was made under roster version ${known}; version ${trust.roster.version} judges it`,
  ]
}

function rosterLines(trust: Trust, { body, signer }: Entry): string[] {
  const version = trust.path.indexOf(body)
  return [
    version < 0
      ? `its roster ${body} is on record and not accepted`
      : `its roster ${body} was accepted as version ${version}`,
    `${signer} signs for itself; rosters are judged by the roots of the version before and of their own`,
  ]
}

function grantWords(trust: Trust, entry: Entry, grant: Grant): string {
  const what = `the grant ${grantTexts(grant).join(' ')}`
  if (!fitsPattern(grant.kinds, entry.kind) || !fitsPattern(grant.streams, entry.stream))
    return `${what} does not fit ${entry.kind} in ${entry.stream}`
  if (grant.until === undefined) return `${what} fits and is open`
  return `${what} fits and is closed by the cut ${grant.until}, which ${cutWords(trust.cutOf(entry.signer, grant.until), entry)}`
}

function cutWords(read: ReadCut, entry: Entry): string {
  if (read.state === 'absent') return 'is not here'
  if (read.state === 'odd') return 'is none of this key, and covers nothing'
  const { cut, cover } = read
  if (cut.readmitted.includes(entry.cid)) return 'readmits the entry'
  if (cut.pins.includes(entry.cid) && cover.has(entry) === 'yes') return 'pins the entry'
  const covered = cover.has(entry)
  if (covered === 'yes') return 'has a pin that goes back to the entry'
  if (covered === 'no') return 'has no pin that goes back to the entry'
  return cover.absentPin === undefined
    ? 'has a gap behind its pins'
    : `has the pin ${cover.absentPin}, which is not here`
}

function freezeLines(trust: Trust, entry: Entry): string[] {
  if (entry.kind === 'freeze') return []
  const inForce = new Map(trust.freezesOf(entry.signer).map((one) => [one.entry.cid, one.cover]))
  return trust.freezes
    .filter(({ signer }) => signer === entry.signer)
    .map(({ cid }) => {
      const cover = inForce.get(cid)
      if (cover === undefined) return `the freeze ${cid} of the key was settled by a roster`
      return `the freeze ${cid} of the key is in force and ${cover.has(entry) === 'yes' ? 'covers the entry' : 'does not cover the entry: open grants wait for a roster'}`
    })
}
