import { addRemote, listRemotes, removeRemote } from '../../sync-verbs.ts'
import type { Verb } from '../program.ts'
import { jsonLine, plain } from '../render.ts'
import { openOptions } from '../settings.ts'

/** `hstore remote list`: other copies of the store, by their names. */
export const remoteList: Verb = async (io, _args, options) => {
  const remotes = await listRemotes(openOptions(io, options))
  if (options.json === true) await io.out(jsonLine('remote', { remotes }))
  else for (const { name, url } of remotes) await io.out(`${plain(`${name} ${url}`)}\n`)
  return 0
}

/** `hstore remote add`: names another copy; nobody is contacted. */
export const remoteAdd: Verb = async (io, [name = '', url = ''], options) => {
  const remote = await addRemote(name, url, openOptions(io, options))
  const text = `${plain(`${remote.name} ${remote.url}`)}\n`
  await io.out(options.json === true ? jsonLine('remote', { remotes: [remote] }) : text)
  return 0
}

/** `hstore remote remove`: forgets a name. */
export const remoteRemove: Verb = async (io, [name = ''], options) => {
  await removeRemote(name, openOptions(io, options))
  if (options.json === true) await io.out(jsonLine('remote', { remotes: [] }))
  return 0
}
