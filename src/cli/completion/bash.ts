import type { Place, PlacedOption, Value } from './places.ts'
import { helpOption, quoted } from './places.ts'

/**
 * Returns the completion script for bash, 3.2 as macOS has it and newer. Paths are left to readline, which quotes them;
 * only words of the table are ever expanded, never what was typed or what a folder holds.
 */
export function bashScript(places: readonly Place[]): string {
  const [top] = places
  const everywhere = [...(top?.options ?? []), helpOption]
  return `# bash completion for hstore, as \`hstore completion bash\` prints it
_hstore() {
  local IFS=$' \\t\\n' current="\${COMP_WORDS[COMP_CWORD]}" at='' wants='' words='' ended='' word i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    # bash takes --option=value for three words
    if [[ $word == '=' ]]; then continue; fi
    if [[ -n $wants ]]; then wants=''; continue; fi
    # what follows -- is no option
    if [[ $word == '--' ]]; then ended=1; break; fi
    case "$at $word" in
${steps(places, everywhere).join('\n')}
    esac
  done
  if [[ $current == '=' ]]; then current=''; fi
  if [[ -z $wants && -z $ended && $current == -* ]]; then
    wants=words
    case "$at" in
${places.flatMap(ownOptions).join('\n')}
    esac
    words="$words ${everywhere.flatMap(({ names }) => names).join(' ')}"
  elif [[ -z $wants ]]; then
    case "$at" in
${places.flatMap(operands).join('\n')}
      *) wants=text ;;
    esac
  fi
  if [[ $wants == file ]]; then return 0; fi
  if [[ $wants == words ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); fi
  # bash 3.2 has no compopt and offers paths where nothing fits
  if [[ $wants == folder ]]; then compopt +o default -o dirnames 2>/dev/null
  else compopt +o default 2>/dev/null; fi
  return 0
}
complete -o default -F _hstore hstore
`
}

/** The lines that follow the words typed so far: into a verb, or to an option that takes a value. */
function steps(places: readonly Place[], everywhere: readonly PlacedOption[]): readonly string[] {
  const verbs = places
    .filter(({ path }) => path.length > 0)
    .map(({ path }) => {
      const before = path.slice(0, -1).join(' ')
      return line(`${before} ${path.at(-1)}`, `at=${quoted(path.join(' '))}`)
    })
  const own = places
    .slice(1)
    .flatMap((place) =>
      place.options.flatMap(({ names, value }) =>
        value === undefined
          ? []
          : names.map((name) => line(`${textOf(place)} ${name}`, wanting(value))),
      ),
    )
  const shared = everywhere.flatMap(({ names, value }) =>
    value === undefined
      ? []
      : names.map((name) => `      *${quoted(` ${name}`)}) ${wanting(value)} ;;`),
  )
  return [...verbs, ...own, ...shared]
}

function ownOptions(place: Place): readonly string[] {
  // before any verb its own options are those of everywhere
  const isTop = place.path.length === 0
  const names = isTop ? ['-V', '--version'] : place.options.flatMap((option) => option.names)
  return names.length === 0 ? [] : [line(textOf(place), `words=${quoted(names.join(' '))}`)]
}

function operands(place: Place): readonly string[] {
  const { verbs, args } = place
  if (verbs.length > 0) {
    const words = verbs.map(({ name }) => name).join(' ')
    return [line(textOf(place), `wants=words words=${quoted(words)}`)]
  }
  const known = args.find(({ wanted }) => wanted !== 'text')
  return known === undefined ? [] : [line(textOf(place), wanting(known))]
}

function wanting({ wanted }: Value): string {
  return typeof wanted === 'string'
    ? `wants=${wanted}`
    : `wants=words words=${quoted(wanted.join(' '))}`
}

function line(pattern: string, action: string): string {
  return `      ${quoted(pattern)}) ${action} ;;`
}

function textOf({ path }: Place): string {
  return path.join(' ')
}
