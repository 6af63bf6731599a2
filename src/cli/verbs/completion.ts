import { bashScript } from '../completion/bash.ts'
import { fishScript } from '../completion/fish.ts'
import type { Place } from '../completion/places.ts'
import { placesOf } from '../completion/places.ts'
import { zshScript } from '../completion/zsh.ts'
import { UsageError } from '../io.ts'
import type { Verb } from '../program.ts'
import { globalOptions, verbs } from '../verb-table.ts'

const scripts: ReadonlyMap<string, (places: readonly Place[]) => string> = new Map([
  ['bash', bashScript],
  ['zsh', zshScript],
  ['fish', fishScript],
])

/** `hstore completion`: prints the script for a shell. Needs no store, key or agent. */
export const completion: Verb = async (io, [shell = '']) => {
  const script = scripts.get(shell)
  if (script === undefined)
    throw new UsageError(`completion is there for ${[...scripts.keys()].join(', ')}`)
  await io.out(script(placesOf(verbs, globalOptions)))
  return 0
}
