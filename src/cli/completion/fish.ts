import type { Place, PlacedOption, Wanted } from './places.ts'
import { helpOption } from './places.ts'

/** Returns the completion script for fish, 3.0 and newer. */
export function fishScript(places: readonly Place[]): string {
  const [top] = places
  const everywhere = [...(top?.options ?? []), helpOption]
  const within = places.filter(({ path }) => path.length > 0)
  const verbs = within.map(({ path }) => quoted(`${path.slice(0, -1).join(' ')} ${path.at(-1)}`))
  const taking = [
    ...within.flatMap((place) => takers(place.options).map((name) => `${textOf(place)} ${name}`)),
    ...takers(everywhere).map((name) => `* ${name}`),
  ].map(quoted)
  return `# fish completion for hstore, as \`hstore completion fish\` prints it
function __hstore_at --description 'Whether the words before the cursor lead to this verb'
    set -l at ''
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch "$at $word"
            case ${verbs.join(' ')}
                set at (string trim -- "$at $word")
            case ${taking.join(' ')}
                set skip 1
        end
    end
    test "$at" = "$argv[1]"
end
complete -c hstore -f
${everywhere.map((option) => `complete -c hstore ${optionWords(option)}`).join('\n')}
complete -c hstore -n '__hstore_at ""' -s V -l version -d 'print the version'
${places.flatMap(lines).join('\n')}
`
}

function lines(place: Place): readonly string[] {
  const start = `complete -c hstore -n ${quoted(`__hstore_at "${textOf(place)}"`)}`
  const options = place.path.length === 0 ? [] : place.options
  const known = place.args.find(({ wanted }) => wanted !== 'text')
  return [
    ...place.verbs.map(({ name, summary }) => `${start} -a ${name} -d ${quoted(summary)}`),
    ...options.map((option) => `${start} ${optionWords(option)}`),
    ...(known === undefined ? [] : [`${start} ${operandWords(known.wanted)}`]),
  ]
}

function optionWords({ names, description, value }: PlacedOption): string {
  const flags = names.map((name) =>
    name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
  )
  const takes = value === undefined ? [] : [valueWords(value.wanted)]
  return [...flags, ...takes, '-d', quoted(description)].join(' ')
}

function valueWords(wanted: Wanted): string {
  if (wanted === 'file') return '-r -F'
  if (wanted === 'folder') return "-x -a '(__fish_complete_directories)'"
  return wanted === 'text' ? '-x' : `-x -a ${quoted(wanted.join(' '))}`
}

function operandWords(wanted: Wanted): string {
  if (typeof wanted !== 'string') return `-a ${quoted(wanted.join(' '))}`
  return wanted === 'folder' ? "-a '(__fish_complete_directories)'" : '-F'
}

function takers(options: readonly PlacedOption[]): readonly string[] {
  return options.flatMap(({ names, value }) => (value === undefined ? [] : names))
}

function textOf({ path }: Place): string {
  return path.join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`
}
