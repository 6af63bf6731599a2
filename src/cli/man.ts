import { environment, exitMeanings, files, outputText, refText } from './man-topics.ts'
import type { VerbRow, VerbSpec } from './verb-table.ts'

/** A man page of section 1. */
export interface ManPage {
  /** The file's name: `hstore-put.1`. */
  readonly name: string
  /** Text for `man`, in ASCII. */
  readonly roff: string
}

/** What the command line has: the table of verbs. */
export interface ManSource {
  readonly summary: string
  readonly version: string
  readonly verbs: readonly VerbSpec[]
  readonly globalOptions: readonly VerbRow[]
}

/** Returns one page for the program and one for each of its verbs; a verb's own verbs stand on its page. */
export function manPages(source: ManSource): readonly ManPage[] {
  const pages = source.verbs.map((spec) => ({
    name: `hstore-${spec.name}.1`,
    roff: verbPage(spec, source),
  }))
  return [{ name: 'hstore.1', roff: programPage(source) }, ...pages]
}

function programPage(source: ManSource): string {
  const { summary, verbs, globalOptions } = source
  return page([
    title('hstore', source),
    section('NAME', text(`hstore - ${lowered(summary)}`)),
    section(
      'SYNOPSIS',
      `${bold('hstore')} ${italic('verb')} [${italic('options')}] [${italic('arguments')}]`,
    ),
    section('DESCRIPTION', paragraphs([refText, outputText])),
    section(
      'VERBS',
      ...verbs.map(({ name, summary: does }) => item(`${bold(`hstore-${name}`)}(1)`, does)),
    ),
    section(
      'OPTIONS',
      ...globalOptions.map(optionItem),
      item(`${bold('--help')}, ${bold('--version')}`, 'say the rest'),
    ),
    section('EXIT STATUS', ...exitMeanings.map(termItem)),
    section('ENVIRONMENT', ...environment.map(termItem)),
    section('FILES', ...files.map(termItem)),
    section('EXAMPLES', examples(verbs)),
    section('SEE ALSO', verbs.map(({ name }) => `${bold(`hstore-${name}`)}(1)`).join(',\n')),
  ])
}

function verbPage(spec: VerbSpec, source: ManSource): string {
  const { name, summary, verbs = [] } = spec
  const words = `hstore ${name}`
  const others = source.verbs.filter((other) => other.name !== name && other.group === spec.group)
  return page([
    title(`hstore-${name}`, source),
    section('NAME', text(`hstore-${name} - ${lowered(summary)}`)),
    section('SYNOPSIS', ...(verbs.length === 0 ? [synopsis(words, spec)] : lines(words, verbs))),
    section('DESCRIPTION', paragraphs([`${summary}.`, ...(spec.more ?? []), ...refsOf(spec)])),
    listed('ARGUMENTS', argumentItems(spec)),
    listed('OPTIONS', optionItems(spec)),
    verbs.length === 0 ? '' : section('VERBS', ...verbs.map((child) => subsection(words, child))),
    section('GLOBAL OPTIONS', ...source.globalOptions.map(optionItem)),
    section('EXIT STATUS', ...exitMeanings.map(termItem)),
    section('EXAMPLES', examples(verbs.length === 0 ? [spec] : verbs)),
    section(
      'SEE ALSO',
      ['hstore', ...others.map((other) => `hstore-${other.name}`)]
        .map((other) => `${bold(other)}(1)`)
        .join(',\n'),
    ),
  ])
}

/** One synopsis a line. */
function lines(words: string, verbs: readonly VerbSpec[]): readonly string[] {
  return verbs.flatMap((child, i) => [
    ...(i === 0 ? [] : ['.br']),
    synopsis(`${words} ${child.name}`, child),
  ])
}

function subsection(words: string, spec: VerbSpec): string {
  const body = [
    paragraphs([`${spec.summary}.`, ...(spec.more ?? [])]),
    ...argumentItems(spec),
    ...optionItems(spec),
  ]
  return [`.SS "${text(`${words} ${spec.name}`)}"`, ...body.filter((part) => part !== '')].join(
    '\n',
  )
}

function synopsis(words: string, { args = [], options = [] }: VerbSpec): string {
  const shown = args.map(([name]) => argument(name))
  return [bold(words), ...(options.length > 0 ? [`[${italic('options')}]`] : []), ...shown].join(
    ' ',
  )
}

function argumentItems({ args = [] }: VerbSpec): readonly string[] {
  return args.map(([name, does]) => item(argument(name), does))
}

function optionItems({ options = [] }: VerbSpec): readonly string[] {
  return options.map(optionItem)
}

function listed(name: string, items: readonly string[]): string {
  return items.length === 0 ? '' : section(name, ...items)
}

/** What a REF is, where the page speaks of one. */
function refsOf(spec: VerbSpec): readonly string[] {
  const speaksOfRefs = ({ more = [], args = [], options = [], verbs = [] }: VerbSpec): boolean => {
    const words = [...more, ...[...args, ...options].flatMap(([name, does]) => [name, does])]
    return words.some((word) => /\bREF|\bref\b/.test(word)) || verbs.some(speaksOfRefs)
  }
  return speaksOfRefs(spec) ? [refText] : []
}

function optionItem([flags, does]: VerbRow): string {
  const [name = '', value] = flags.split(' ')
  return item(value === undefined ? bold(name) : `${bold(name)} ${argument(value)}`, does)
}

function termItem([term, meaning]: readonly [string, string]): string {
  return item(bold(term), meaning)
}

/** `<file...>` is a file of which there may be more; `[ref...]` need not be there. */
function argument(written: string): string {
  const name = italic(written.replaceAll(/[<>[\]]|\.\.\./g, ''))
  const more = written.includes('...') ? '...' : ''
  return written.startsWith('[') ? `[${name}${more}]` : `${name}${more}`
}

function title(name: string, { version }: ManSource): string {
  return `.TH ${name.toUpperCase()} 1 "" "hstore ${version}" "hstore manual"`
}

function section(name: string, ...parts: readonly string[]): string {
  return [`.SH ${name}`, ...parts].join('\n')
}

function page(parts: readonly string[]): string {
  return `${parts.filter((part) => part !== '').join('\n')}\n`
}

function item(term: string, does: string): string {
  return `.TP\n${term}\n${flowing(does)}`
}

function examples(verbs: readonly VerbSpec[]): string {
  return verbs.map(({ example }) => exampleOf(example)).join('\n.PP\n')
}

function exampleOf(example: string): string {
  return `.EX\n${text(`$ ${example}`)}\n.EE`
}

function paragraphs(all: readonly string[]): string {
  return all.map(flowing).join('\n.PP\n')
}

function bold(words: string): string {
  return `\\fB${text(words)}\\fP`
}

function italic(words: string): string {
  return `\\fI${text(words)}\\fP`
}

/** Text in lines of at most 80 characters, as long as its words allow; a sentence begins a line. */
function flowing(words: string): string {
  const lines: string[] = []
  for (const sentence of words.split(/(?<=[.:;]) (?=[A-Z])/)) {
    let line = ''
    for (const word of sentence.split(' ').map(text)) {
      if (line !== '' && line.length + word.length >= 80) {
        lines.push(line)
        line = ''
      }
      line = line === '' ? word : `${line} ${word}`
    }
    lines.push(line)
  }
  return lines.join('\n')
}

const named: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '"': '\\(dq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
}

/**
 * Returns text in which `man` finds no command of its own: a hyphen stays one that can be searched and copied, a dot in
 * front is no request, and what is not ASCII has its code point's name.
 */
export function text(words: string): string {
  const line = words
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\\-'"`^~]/g, (character) => named[character] ?? character)
    .replaceAll(/[^ -~]/gu, (character) => {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase()
      return `\\[u${code.padStart(4, '0')}]`
    })
  return line.replace(/^\./, String.raw`\&.`)
}

function lowered(summary: string): string {
  return summary.charAt(0).toLowerCase() + summary.slice(1)
}
