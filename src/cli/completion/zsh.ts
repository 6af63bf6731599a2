import type { Place, PlacedOption, Value } from './places.ts'
import { helpOption, quoted } from './places.ts'

/** Returns the completion script for zsh: to be sourced, or as a file `_hstore` in a folder of `$fpath`. */
export function zshScript(places: readonly Place[]): string {
  const groups = places.filter(({ verbs }) => verbs.length > 0)
  const everywhere = [...(places[0]?.options ?? []), helpOption].flatMap(optionSpecs)
  return `#compdef hstore
# zsh completion for hstore, as \`hstore completion zsh\` prints it
${groups.map((group) => groupFunction(group, places)).join('\n')}
typeset -ga _hstore_everywhere
_hstore_everywhere=(
${indented(everywhere, 2)}
)
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _hstore "$@"
else
  compdef _hstore hstore
fi
`
}

function groupFunction(group: Place, places: readonly Place[]): string {
  const { path, verbs } = group
  const below = places.filter(
    (place) =>
      place.path.length === path.length + 1 && path.every((word, i) => place.path[i] === word),
  )
  const version = path.length === 0 ? ` ${quoted('(- *)--version[print the version]')}` : ''
  return `${nameOf(path)}() {
  local context state state_descr line curcontext="$curcontext"
  local -A opt_args
  local -a verbs
  verbs=(
${indented(
  verbs.map(({ name, summary }) => quoted(`${name}:${summary}`)),
  4,
)}
  )
  _arguments -S -C "\${_hstore_everywhere[@]}"${version} '1:verb:->verb' '*::rest:->rest' && return
  case $state in
    (verb) _describe verb verbs ;;
    (rest)
      case $words[1] in
${below.map(caseOf).join('\n')}
        (help) _describe verb verbs ;;
      esac ;;
  esac
}`
}

function caseOf(place: Place): string {
  const { path, verbs, options, args } = place
  const name = path.at(-1)
  if (verbs.length > 0) return `        (${name}) ${nameOf(path)} ;;`
  const specs = [...options.flatMap(optionSpecs), ...args.map(argumentSpec)]
  const words = ['_arguments -S "${_hstore_everywhere[@]}"', ...specs].join(' ')
  return `        (${name}) ${words} ;;`
}

function optionSpecs({ names, description, value }: PlacedOption): readonly string[] {
  const words = description.replaceAll(/[[\]\\]/g, String.raw`\$&`)
  const takes = value === undefined ? '' : `:${value.name}:${actionOf(value)}`
  const repeats = value?.isMany === true ? '*' : ''
  return names.map((name) => quoted(`${repeats}${name}[${words}]${takes}`))
}

function argumentSpec(value: Value, i: number): string {
  return quoted(`${value.isMany ? '*' : i + 1}:${value.name}:${actionOf(value)}`)
}

function actionOf({ wanted }: Value): string {
  if (wanted === 'file') return '_files'
  if (wanted === 'folder') return '_files -/'
  return wanted === 'text' ? ' ' : `(${wanted.join(' ')})`
}

function nameOf(path: readonly string[]): string {
  return ['_hstore', ...path].join('_')
}

function indented(lines: readonly string[], spaces: number): string {
  return lines.map((line) => ' '.repeat(spaces) + line).join('\n')
}
