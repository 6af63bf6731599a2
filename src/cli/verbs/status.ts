import type { StatusReport, Uncounted } from '../../status.ts'
import type { Verb } from '../program.ts'
import { ageOf } from '../age.ts'
import { findingLine, jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

const shownAtMost = 10

/** `hstore status`: how the store stands; a stream a line, then what asks for attention. */
export const status: Verb = async (io, _args, options) => {
  await using store = await openNamed(io, options)
  const { exit, ...report } = await store.status()
  if (options.json === true) await io.out(jsonLine('status', report))
  else {
    await io.out(linesOf(report).map(line).join(''))
    io.err(`not checked: ${report.notMade.join(', ')}\n`)
  }
  return exit
}

function linesOf(report: Omit<StatusReport, 'exit'>): string[] {
  const { store, genesis, roster, streams, kept } = report
  return [
    `store ${store}`,
    `genesis ${genesis}, roster version ${roster}`,
    ...streams.flatMap(streamLines),
    ...uncounted('held', report.held),
    ...uncounted('rejected', report.rejected),
    ...uncounted('made elsewhere', report.elsewhere),
    ...lost(report.lost),
    ...report.damage.map(findingLine),
    ...report.remotes.map(remoteLine),
    ...kept.map((name) => `kept: ${name}, a damaged database: remove it when nothing is missed`),
  ]
}

function streamLines({ stream, heads }: StatusReport['streams'][number]): string[] {
  const [only, ...more] = heads
  if (only === undefined) return [`${stream} without a head`]
  const told = ({ cid, revision, author }: typeof only): string => `${cid} ${revision} by ${author}`
  if (more.length === 0) return [`${stream} ${told(only)}`]
  return [`${stream} is forked, ${heads.length} heads:`, ...heads.map((head) => `  ${told(head)}`)]
}

function uncounted(what: string, entries: readonly Uncounted[]): string[] {
  if (entries.length === 0) return []
  const shown = entries.slice(0, shownAtMost)
  const rest = entries.length - shown.length
  return [
    `${what}: ${entries.length} entries`,
    ...shown.map(({ cid, author, why }) => `  ${cid} by ${author}: ${why}`),
    ...(rest > 0 ? [`  and ${rest} more (--json has all)`] : []),
  ]
}

function remoteLine({
  name,
  url,
  contactMs,
  behind,
  ahead,
}: StatusReport['remotes'][number]): string {
  if (contactMs === 0) return `remote ${name} ${url}: never heard`
  return `remote ${name} ${url}: heard ${ageOf(Date.now() - contactMs)} ago, as of then ${behind} behind, ${ahead} ahead`
}

function lost(cids: readonly string[]): string[] {
  if (cids.length === 0) return []
  const advice = 'bring them back, or let them go with hstore fsck --forget-lost'
  return [`lost: ${cids.length} entries: ${advice}`, ...cids.map((cid) => `  ${cid}`)]
}

function line(text: string): string {
  return `${plain(text)}\n`
}
