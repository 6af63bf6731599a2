import { readFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { exitOf } from '../src/cli/exit-codes.ts'
import type { VerbSpec } from '../src/cli/verb-table.ts'
import { globalOptions, verbs } from '../src/cli/verb-table.ts'
import { rules } from '../src/rules/table.ts'
import { compileExamples, run } from './support/compile-examples.ts'
import { findingsPage, unpadded } from './support/findings-page.ts'
import { historyBundle } from './support/history.ts'
import { makeSharedFolder } from './support/store.ts'
import { makeTempFolder } from './support/temp-folder.ts'
import { doors, shapesModule } from './support/library-page.ts'
import type { Shell } from './support/transcript.ts'
import { codeFences, isShown, parseTranscript, runCommand } from './support/transcript.ts'

const pages = [
  'README.md',
  'docs/cli.md',
  'docs/lanes.md',
  'docs/recovery.md',
  'docs/sync.md',
  'docs/trust.md',
  'docs/turns.md',
] as const
const hrcExample = fileURLToPath(new URL('../fixtures/hrc/example', import.meta.url))
const relayExample = fileURLToPath(new URL('../fixtures/turns/example', import.meta.url))

function read(file: string): string {
  return readFileSync(fileURLToPath(new URL(`../${file}`, import.meta.url)), 'utf8')
}

/** Returns a shell in a folder that holds the worked history, a relay and its archive, documents of HRC-001, and nothing else. */
async function makeShell(): Promise<Shell> {
  const home = await makeSharedFolder()
  const cwd = `${home}/tide`
  await mkdir(cwd)
  await cp(historyBundle, cwd, { recursive: true })
  for (const name of ['M8SHIFT.md', 'M8SHIFT.archive.md']) {
    await cp(`${relayExample}/${name}`, `${cwd}/${name}`)
  }
  await cp(hrcExample, `${cwd}/hrc`, { recursive: true })
  return { cwd, env: { HOME: home } }
}

describe.each(pages)('transcripts of %s', (file) => {
  const fences = codeFences(read(file)).filter(({ info }) => info === 'console')
  let shell: Shell
  beforeAll(async () => {
    shell = await makeShell()
  })

  it.each(fences)('line $line', async ({ text }) => {
    for (const { command, output, exit } of parseTranscript(text)) {
      const ran = await runCommand(shell, command)
      const isRight = ran.exit === exit && isShown(ran.printed, output)
      expect(isRight || `$ ${command}\n${ran.printed}? ${ran.exit}`, command).toBe(true)
    }
  })

  it('are there', () => {
    expect(fences.length).toBeGreaterThan(0)
  })
})

describe('a transcript', () => {
  it('is not shown by other output, more of it, or less', () => {
    expect(isShown('one\ntwo\n', ['one', 'two'])).toBe(true)
    expect(isShown('one\ntwo\n', ['one'])).toBe(false)
    expect(isShown('one\n', ['one', 'two'])).toBe(false)
    expect(isShown('a(b) c\n', ['a(b) [..]'])).toBe(true)
    expect(isShown('a(b) c\nd\n', ['a(b) [..]'])).toBe(false)
    expect(isShown('one\ntwo\nthree\n', ['one', '[..]', 'three'])).toBe(true)
    expect(isShown('one\nthree\n', ['one', '[..]', 'three'])).toBe(true)
    expect(isShown('one\ntwo\n', ['one', '[..]', 'three'])).toBe(false)
  })

  it('takes commands, outputs and exit codes apart', () => {
    expect(parseTranscript('$ one\nout\n? 3\n$ two\n')).toEqual([
      { command: 'one', output: ['out'], exit: 3 },
      { command: 'two', output: [], exit: 0 },
    ])
    expect(() => parseTranscript('out\n')).toThrow('begins with a command')
  })
})

describe('docs/cli.md', () => {
  const page = read('docs/cli.md')
  const rows = new Map(
    [...page.matchAll(/^\| `(HSTORE_[A-Z_]+)` +\| (\d) /gm)].map(([, code, exit]) => [
      code!,
      exit!,
    ]),
  )
  const sources = ['src/cli/exit-codes.ts', 'src/errors.ts', 'store/errors.ts', 'keys/errors.ts']
  const codes = new Set(sources.flatMap((file) => read(file).match(/\bHSTORE_[A-Z_]+/g) ?? []))

  it.each([...codes])('lists %s with its exit code', (code) => {
    expect(exitOf(code)).toBeDefined()
    expect(rows.get(code)).toBe(String(exitOf(code)))
  })

  it('lists no code that is none', () => {
    expect([...rows.keys()].filter((code) => !codes.has(code))).toEqual(['HSTORE_BUG'])
    expect(rows.get('HSTORE_BUG')).toBe('1')
  })

  it('has a section for every verb and a row for every option', () => {
    for (const { path, spec } of allVerbs(verbs, 'hstore')) {
      const section = sectionOf(page, path)
      expect(section, path).toBeDefined()
      for (const [flags] of spec.options ?? []) expect(section, path).toContain(`\`${flags}\``)
    }
    for (const [flags] of globalOptions)
      expect(sectionOf(page, 'Everywhere')).toContain(`\`${flags}\``)
  })

  it('lists the keys of each JSON document, and no others', async () => {
    const shell = await makeShell()
    const printed = async (command: string): Promise<{ schema?: string }> =>
      JSON.parse((await runCommand(shell, command)).printed.split('\n')[0]!)
    const ref = 'csag:handoff/tide-gauge'
    const documents = [
      await printed('hstore init --as csag:agent/agent-a --no-passphrase --json'),
      await printed('hstore key show csag:agent/agent-a --json'),
      await printed('hstore key export csag:agent/agent-a --format pem --secret --json'),
      await printed('hstore key export csag:agent/agent-a --format jwk --json'),
      await printed('hstore put r0001.json --json'),
      await printed(`hstore get ${ref} --json`),
      await printed(`hstore verify --json`),
      await printed(`hstore resume ${ref} --json`),
      await printed(`hstore log ${ref} --json`),
      await printed(`hstore diff ${ref} ${ref} --json`),
      await printed(`hstore blame ${ref} --json`),
      await printed(`hstore show ${ref} --json`),
      await printed(`hstore heads --json`),
      await printed('hstore roster show --json'),
      await printed('hstore validate r0001.json --json'),
      await printed('hstore turn validate --json'),
      await printed('hstore turn peek alpha --json'),
      await printed(
        'hstore hrc evaluate --stage transition --state hrc/state.json --proposal hrc/proposal.json --json',
      ),
      await printed('hstore turn import M8SHIFT.md --relay tides --json'),
      await printed('hstore turn export --relay tides --out back.md --json'),
      await printed('hstore lane open harbour --json'),
      await printed('hstore lane read harbour --json'),
      await printed('hstore lane show harbour --json'),
      await printed('hstore lane log harbour --json'),
      await printed('hstore status --json'),
      await printed('hstore stats --json'),
      await printed('hstore fsck --json'),
      await printed('hstore gc --json'),
      await printed('hstore export all.car --json'),
      await printed('hstore import all.car --json'),
      await printed('hstore remote list --json'),
    ]
    const { genesis = '' } = documents[0] as { genesis?: string }
    documents.push(
      await printed(`hstore clone all.car --store ../c --json --genesis ${genesis}`),
      await printed('hstore sync ../c --json'),
    )
    for (const { schema, ...keys } of documents) {
      const row = page
        .split('\n')
        .find((line) =>
          line.startsWith(schema === undefined ? '| (`validate`)' : `| \`${schema}\``),
        )
      const told = new Set(row?.match(/(?<=`)[a-z_A-Z0-9]+(?=`)/g))
      for (const key of Object.keys(keys)) expect(told, schema).toContain(key)
    }
  })
})

describe('docs/library.md', () => {
  const fences = codeFences(read('docs/library.md'))
  const examples = fences.filter(({ info }) => info === 'ts')
  let folder = ''
  let programs: readonly string[] = []
  beforeAll(async () => {
    folder = await makeSharedFolder()
    await cp(historyBundle, `${folder}/bundle`, { recursive: true })
    const shapes = fences.filter(({ info }) => info === 'ts shape').map(({ text }) => text)
    expect(shapes.length).toBeGreaterThan(0)
    programs = await compileExamples(folder, [
      ...examples.map(({ text }) => text),
      shapesModule(shapes),
    ])
  })

  it('names no error code that is none', () => {
    const named = read('docs/library.md').match(/\bHSTORE_[A-Z_]+\b(?!…|_)/g) ?? []
    expect(named.length).toBeGreaterThan(0)
    for (const code of named) expect(exitOf(code), code).toBeDefined()
  })

  it.each(doors())('names $name with $returns', ({ name, returns }) => {
    const lines = read('docs/library.md')
      .replaceAll(String.raw`\|`, '|')
      .split('\n')
    const named = lines.filter((line) => line.includes(`\`${name}(`))
    expect(named.filter((line) => line.includes(`\`${returns}\``))).toHaveLength(1)
  })

  it.each(examples.map((fence, i) => ({ ...fence, i })))(
    'the example in line $line',
    ({ i, line }) => {
      const shown = fences.find((fence) => fence.info === 'text' && fence.line > line)
      const printed = run(programs[i]!, [], folder)
      const isRight = isShown(printed, shown?.text.trimEnd().split('\n') ?? [])
      expect(isRight || printed).toBe(true)
    },
  )
})

describe('README.md', () => {
  it.each(codeFences(read('README.md')).filter(({ info }) => info === 'js'))(
    'has an example in line $line that runs as it stands',
    async ({ text }) => {
      const folder = await makeTempFolder()
      await mkdir(`${folder}/node_modules`)
      await symlink(fileURLToPath(new URL('..', import.meta.url)), `${folder}/node_modules/hstore`)
      await writeFile(`${folder}/example.mjs`, text)
      expect(run(`${folder}/example.mjs`, [], folder)).toMatch(/^baguqeera[a-z2-7]+\ntrue\n$/)
    },
  )

  it('links to what the package has', () => {
    const pack = ['pack', '--dry-run', '--json', '--ignore-scripts']
    const [{ files }] = JSON.parse(
      execFileSync('npm', pack, {
        cwd: fileURLToPath(new URL('..', import.meta.url)),
        encoding: 'utf8',
      }),
    ) as [{ files: readonly { path: string }[] }]
    const packed = new Set(files.map(({ path }) => path))
    const linked = [...read('README.md').matchAll(/\]\(([^)\s#:]+)(?:#[^)]*)?\)/g)].map(
      ([, to]) => to!,
    )
    expect(linked).toContain('fixtures/history/README.md')
    expect(linked.filter((to) => !packed.has(to))).toEqual([])
  })
})

describe('docs/findings.md', () => {
  it('is what the table of rules gives', () => {
    expect(unpadded(read('docs/findings.md'))).toBe(unpadded(findingsPage(rules)))
  })
})

describe('the pages', () => {
  const all = [
    ...pages,
    'docs/concepts.md',
    'docs/findings.md',
    'docs/format.md',
    'docs/library.md',
    'docs/threat-model.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
    'fixtures/entries/README.md',
    'fixtures/hrc/README.md',
    'fixtures/turns/README.md',
  ]

  it.each(all)('%s links to what is there', (file) => {
    for (const [, target = ''] of read(file).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue
      const [to = '', anchor] = target.split('#')
      const base = new URL(`../${file}`, import.meta.url)
      const text = readFileSync(fileURLToPath(new URL(to === '' ? base : to, base)), {
        encoding: 'utf8',
        flag: 'r',
      })
      if (anchor !== undefined) expect(anchorsOf(text), target).toContain(anchor)
    }
  })

  it('README.md is short', () => {
    expect(read('README.md').split('\n').length).toBeLessThan(200)
  })
})

/** Returns the anchors that GitHub gives the headings of a page. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function sectionOf(text: string, title: string): string | undefined {
  const from = text.search(new RegExp(`^#{2,3} ${title}$`, 'm'))
  if (from < 0) return undefined
  const rest = text.slice(text.indexOf('\n', from))
  const end = rest.search(/^#{2,3} /m)
  return end < 0 ? rest : rest.slice(0, end)
}

function* allVerbs(
  specs: readonly VerbSpec[],
  before: string,
): Generator<{ readonly path: string; readonly spec: VerbSpec }> {
  for (const spec of specs) {
    const path = `${before} ${spec.name}`
    yield { path, spec }
    yield* allVerbs(spec.verbs ?? [], path)
  }
}
