import { decodeEntry } from '../../src/entry/decode.ts'
import { validateHandoff } from '../../src/contracts/csag/handoff.ts'
import { formatReport, makeReport, reportLines } from '../../src/contracts/csag/report.ts'
import { makeVirtualBundle } from '../../src/contracts/csag/virtual-bundle.ts'
import { readRoster } from '../../src/trust/read-roster.ts'
import { parsePrivateKey } from '../../keys/private-key.ts'
import { parseOpenSSHPublicKey } from '../../keys/openssh-public.ts'
import { decodeForm } from '../../store/canonical.ts'
import { readCar } from '../../store/car.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { decodeBlock } from '../../store/codec.ts'
import { parseJson, toBlockForm } from '../../store/json-input.ts'
import { runCli } from '../support/cli.ts'
import { SeedFolder } from './seeds.ts'
import type { Target } from './target.ts'
import { codeOf, textOfBytes } from './target.ts'
import { envelopeTargets } from './targets/envelopes.ts'
import { archives } from './worst/archives.ts'
import { commandLines } from './worst/command-lines.ts'
import { entries } from './worst/entries.ts'
import { envelopes } from './worst/envelopes.ts'
import { keyFiles } from './worst/keys.ts'
import { papers, reports } from './worst/papers.ts'
import { shapes } from './worst/shapes.ts'
import { rosters } from './worst/rosters.ts'

/** A door and the worst that can be handed in through it. */
export interface WorstCase {
  readonly name: string
  readonly make: () => Uint8Array
  /** Returns a code, or `accepted`. */
  readonly run: (bytes: Uint8Array) => Promise<string>
}

type Door = (bytes: Uint8Array) => unknown

const nothing = makeVirtualBundle(new Map())

const doors = {
  block: (bytes) => decodeBlock(bytes),
  json: (bytes) => toBlockForm(parseJson(bytes)),
  entry: (bytes) => decodeEntry(cidTextOf(bytes, 'dag-json'), bytes),
  roster: (bytes) => readRoster(decodeForm(bytes).form),
  envelope: async (bytes) => {
    const judgement = await validateHandoff(bytes, nothing)
    reportLines(judgement)
    return formatReport(makeReport(judgement, '/'))
  },
  validate: (bytes) => runCli(['validate', '-', '--bundle', '/'], { stdin: bytes }),
  key: (bytes) => parsePrivateKey(bytes, 'correct horse'),
  'public-key': (bytes) => parseOpenSSHPublicKey(bytes),
  car: async (bytes) => {
    for await (const { cid } of readCar(bytes)) cid.toString()
  },
  argv: (bytes) => runCli(textOfBytes(bytes).split('\0')),
} satisfies Record<string, Door>

function targetOf(seeds: SeedFolder, name: string): Target | undefined {
  return envelopeTargets(seeds).find((target) => target.name === name)
}

/** Returns the inputs that cost most, each of about 2 MiB where its door takes that much. */
export function worstCases(root: string): WorstCase[] {
  const seeds = new SeedFolder(root, undefined)
  const [paper, report] = ['paper', 'report'].map((name) => targetOf(seeds, name))
  const open: Record<string, Door> = { ...doors, paper: paper!.run, report: report!.run }
  const all: (readonly [string, readonly string[], () => Uint8Array])[] = [
    ...shapes.map(([name, make]) => [name, ['block', 'json', 'envelope', 'paper'], make] as const),
    ...papers(seeds).map(([name, make]) => [name, ['paper'], make] as const),
    ...reports.map(([name, make]) => [name, ['report'], make] as const),
    ...entries.map(([name, make]) => [name, ['entry'], make] as const),
    ...commandLines.map(([name, make]) => [name, ['argv'], make] as const),
    ...envelopes(seeds).map(([name, make]) => [name, ['envelope', 'validate'], make] as const),
    ...rosters.map(([name, make]) => [name, ['roster'], make] as const),
    ...keyFiles.map(([name, door, make]) => [name, [door], make] as const),
    ...archives.map(([name, make]) => [name, ['car'], make] as const),
  ]
  return all.flatMap(([name, through, make]) =>
    through.map((door) => ({
      name: `${door}: ${name}`,
      make,
      run: async (bytes: Uint8Array) => {
        try {
          await open[door]!(bytes)
          return 'accepted'
        } catch (error) {
          return codeOf(error)
        }
      },
    })),
  )
}
