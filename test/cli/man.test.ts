import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { manPages, text } from '../../src/cli/man.ts'
import { environment, exitMeanings } from '../../src/cli/man-topics.ts'
import type { VerbSpec } from '../../src/cli/verb-table.ts'
import { globalOptions, programSummary, verbs } from '../../src/cli/verb-table.ts'

const at = (file: string): string => fileURLToPath(new URL(`../../${file}`, import.meta.url))
const read = (file: string): string => readFileSync(at(file), 'utf8')
const manifest = JSON.parse(read('package.json')) as { version: string; man: readonly string[] }
const source = { summary: programSummary, version: manifest.version, verbs, globalOptions }
const pages = manPages(source)

/** Says what is not roff as these pages have it: the requests that they use, text in ASCII, escapes that are known. */
function faultsOf(roff: string): readonly string[] {
  const isRequest = /^\.(?:TH|SH|SS|TP|PP|EX|EE|br)(?: |$)/
  const known = /\\(?:f[BIP]|[-e&]|\((?:aq|dq|ga|ha|ti)|\[u[0-9A-F]{4,6}\])/g
  return roff.split('\n').filter((line) => {
    const rest = line.replaceAll(known, '')
    const isOdd = rest.includes('\\') || /[^ -~]/.test(rest) || /\s$/.test(line)
    return isOdd || (/^[.']/.test(line) && !isRequest.test(line))
  })
}

function optionsOf(spec: VerbSpec): readonly string[] {
  const own = (spec.options ?? []).map(([flags]) => flags.split(' ')[0]!)
  return [...own, ...(spec.verbs ?? []).flatMap(optionsOf)]
}

describe.each(pages)('$name', ({ name, roff }) => {
  it('is well-formed', () => {
    expect(faultsOf(roff)).toEqual([])
    const sections = roff.match(/^\.SH .*$/gm)?.map((line) => line.slice(4)) ?? []
    expect(sections.slice(0, 3)).toEqual(['NAME', 'SYNOPSIS', 'DESCRIPTION'])
    expect(sections).toContain('EXIT STATUS')
    expect(sections.slice(-2)).toEqual(['EXAMPLES', 'SEE ALSO'])
    expect(new Set(sections).size).toBe(sections.length)
    // man and apropos read the name from one line
    expect(roff).toMatch(
      new RegExp(`^\\.SH NAME\n${name.slice(0, -2).replaceAll('-', '.*')} .* .+\n`, 'm'),
    )
  })

  it('pleases groff and mandoc, where they are', () => {
    const tools: readonly (readonly [string, readonly string[]])[] = [
      ['groff', ['-man', '-ww', '-Tutf8', '-z']],
      ['mandoc', ['-T', 'lint', '-W', 'warning']],
    ]
    for (const [tool, args] of tools) {
      const { error, stdout, stderr } = spawnSync(tool, args, { input: roff, encoding: 'utf8' })
      const said = error ? '' : stdout + stderr
      expect(
        said.split('\n').filter((line) => line !== '' && !line.includes('missing date')),
      ).toEqual([])
    }
  })

  it('is what the build writes', () => {
    expect(read(`dist/man/man1/${name}`)).toBe(roff)
  })
})

it('there is a page for every verb, in dist and in package.json', () => {
  const names = ['hstore.1', ...verbs.map((spec) => `hstore-${spec.name}.1`)].sort()
  expect(pages.map(({ name }) => name).sort()).toEqual(names)
  expect(readdirSync(at('dist/man/man1')).sort()).toEqual(names)
  expect([...manifest.man].sort()).toEqual(names.map((name) => `./dist/man/man1/${name}`).sort())
})

it.each(verbs)('the page of $name has its options, paragraphs and examples', (spec) => {
  const roff = pages.find(({ name }) => name === `hstore-${spec.name}.1`)!.roff
  for (const option of optionsOf(spec)) expect(roff).toContain(`\\fB${text(option)}\\fP`)
  for (const [flags] of globalOptions) expect(roff).toContain(text(flags.split(' ')[0]!))
  const words = roff.replaceAll(/\s+/g, ' ').replaceAll('\\&', '')
  for (const more of spec.more ?? []) expect(words).toContain(text(more).replaceAll('\\&', ''))
  for (const { example } of spec.verbs ?? [spec]) {
    expect(roff).toContain(`.EX\n${text(`$ ${example}`)}\n.EE`)
  }
})

it('keeps arguments apart from options, and says what a REF is where one is asked for', () => {
  const put = pages.find(({ name }) => name === 'hstore-put.1')!.roff
  const [before = '', behind = ''] = put.split('.SH OPTIONS\n')
  expect(before).toContain('.SH ARGUMENTS\n.TP\n\\fIfile\\fP...')
  expect(behind).not.toContain('.TP\n\\fIfile')
  for (const { name, roff } of pages) {
    const asks = /\bREF|\\fIref/.test(roff)
    expect(roff.includes('A REF is a CID'), name).toBe(asks)
  }
})

it('says of exit codes and variables what is so', () => {
  const table = [...read('docs/cli.md').matchAll(/^\| (\d) +\| (.*?) +\|$/gm)]
  expect(table.map(([, code, means]) => [code, means])).toEqual(exitMeanings)
  const cli = readdirSync(at('src/cli'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && file !== 'man-topics.ts')
    .map((file) => read(`src/cli/${file}`))
  const used = cli.flatMap(
    (code) => code.match(/(?<=\benv\[')[A-Z_]+(?='\])|(?<=const \{ )[A-Z]+(?= = )/g) ?? [],
  )
  expect(environment.map(([name]) => name).sort()).toEqual([...new Set(used)].sort())
})

describe('text', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['.hstore', String.raw`\&.hstore`],
    ["'quoted'", String.raw`\(aqquoted\(aq`],
    ['--as', String.raw`\-\-as`],
    [String.raw`a\fBb`, String.raw`a\efBb`],
    ['~/x ^ ` "', String.raw`\(ti/x \(ha \(ga \(dq`],
    ['did:key:z6Mk… 🔑', String.raw`did:key:z6Mk\[u2026] \[u1F511]`],
    ['a\n.so /etc/passwd', 'a .so /etc/passwd'],
  ]
  it.each(cases)('%j', (given, wanted) => {
    expect(text(given)).toBe(wanted)
  })

  it('leaves nothing of a table that man would obey', () => {
    const odd = `.de x\n'br \\!.sy touch made\n.TH "x" \\n[.x]`
    const verb: VerbSpec = {
      name: 'odd',
      summary: odd,
      more: [`${'word '.repeat(15)}${odd}`],
      example: odd,
    }
    const all = manPages({
      ...source,
      verbs: [{ ...verb, options: [['--odd <dir>', odd]], verbs: [verb] }],
    })
    for (const { roff } of all) expect(faultsOf(roff)).toEqual([])
  })
})
