import type { HrcFile, HrcStage } from '../../contracts/hrc/evaluate-files.ts'
import { evaluateHrc } from '../../contracts/hrc/evaluate-files.ts'
import { exitOfStatus } from '../exit-codes.ts'
import { readInput } from '../input.ts'
import type { Io } from '../io.ts'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'

type Options = Readonly<Record<string, unknown>>

/** `hstore hrc evaluate`: HRC-001's answer on plain documents. */
export const hrcEvaluate: Verb = async (io, _args, options) => {
  const stage = stageOf(options)
  const now = nowOf(options)
  const state = await wanted(io, options, 'state')
  const proposal = await wanted(io, options, 'proposal')
  const signal = await given(io, options, 'signal')
  const ack = await given(io, options, 'ack')
  const { status, detail } = evaluateHrc(stage, { state, proposal, signal, ack }, now)
  if (options.json === true) await io.out(jsonLine('hrc', { status, detail }))
  else {
    const lines = Object.entries(detail).map(([key, value]) => plain(`${key} ${String(value)}`))
    await io.out(`${[status, ...lines].join('\n')}\n`)
  }
  return exitOfStatus(status)
}

function stageOf({ stage }: Options): HrcStage {
  if (stage === 'transition' || stage === 'handoff' || stage === 'commit') return stage
  throw new UsageError('--stage is one of transition, handoff, commit')
}

function nowOf({ now }: Options): number {
  if (now === undefined) return Math.floor(Date.now() / 1000)
  const tick = typeof now === 'string' && /^\d{1,16}$/.test(now) ? Number(now) : Number.NaN
  if (Number.isSafeInteger(tick)) return tick
  throw new UsageError('--now is a number of whole seconds since 1970')
}

async function wanted(io: Io, options: Options, name: string): Promise<HrcFile> {
  const file = await given(io, options, name)
  if (file !== undefined) return file
  throw new UsageError(`--${name} FILE is missing`)
}

async function given(io: Io, options: Options, name: string): Promise<HrcFile | undefined> {
  const file = options[name]
  if (typeof file !== 'string') return undefined
  return { bytes: await readInput(io, file), name: file }
}
