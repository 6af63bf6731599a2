import type { RosterReport } from '../../reports.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openNamed } from '../settings.ts'

/** `hstore roster show`: who is trusted. */
export const rosterShow: Verb = async (io, _args, options) => {
  await using store = await openNamed(io, options)
  const roster = await store.roster()
  await io.out(options.json === true ? jsonLine('roster', roster) : text(roster))
  return 0
}

/** `hstore roster add`: trusts an agent's key. */
export const rosterAdd: Verb = async (io, [agent = '', did = ''], options) => {
  await using store = await openNamed(io, options)
  const machine = (options['machine'] as string | undefined) ?? io.machine
  const roster = await store.addToRoster(agent, did, machine)
  await io.out(options.json === true ? jsonLine('roster', roster) : text(roster))
  if (!roster.new) io.err('hstore: the roster has this key already\n')
  return 0
}

function text({ genesis, version, roots, threshold, agents }: RosterReport): string {
  const lines = [
    `genesis ${genesis}`,
    `version ${version}`,
    ...roots.map(({ did, holder }) => `root ${holder} ${did}`),
    `threshold ${threshold}`,
    ...agents.flatMap(({ id, aliases, keys }) => [
      `agent ${id}${aliases.length > 0 ? ` (also ${aliases.join(', ')})` : ''}`,
      ...keys.map(({ did, level, machine }) => `  key ${did} ${level} on ${machine}`),
    ]),
  ]
  return `${lines.map(plain).join('\n')}\n`
}
