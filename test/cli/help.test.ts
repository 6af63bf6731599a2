import { describe, expect, it, vi } from 'vitest'
import type { Verb } from '../../src/cli/program.ts'
import type { VerbSpec } from '../../src/cli/verb-table.ts'
import { verbs } from '../../src/cli/verb-table.ts'
import { runCli } from '../support/cli.ts'

const reached = vi.hoisted(() => ({ paths: [] as string[] }))

/** The real table, with verbs that only say that they were reached. */
vi.mock('../../src/cli/verb-table.ts', async (load) => {
  const table = await load<{ verbs: readonly VerbSpec[] }>()
  const stubbed = (specs: readonly VerbSpec[], before: string): readonly VerbSpec[] =>
    specs.map((spec) => {
      const path = `${before}${spec.name}`
      const stub: Verb = async () => {
        reached.paths.push(path)
        return 0
      }
      const load = spec.load === undefined ? {} : { load: async () => stub }
      return { ...spec, ...load, ...(spec.verbs ? { verbs: stubbed(spec.verbs, `${path} `) } : {}) }
    })
  return { ...table, verbs: stubbed(table.verbs, '') }
})

function all(specs: readonly VerbSpec[], before: string): { path: string; spec: VerbSpec }[] {
  return specs.flatMap((spec) => {
    const path = `${before}${spec.name}`
    return [{ path, spec }, ...all(spec.verbs ?? [], `${path} `)]
  })
}

const every = all(verbs, '')

describe.each(every)('hstore $path', ({ path, spec }) => {
  it('has an example that parses and reaches the verb', async () => {
    const [command = ''] = spec.example.split(/ [|>] /)
    const words = command.split(' ')
    expect(words.shift()).toBe('hstore')
    reached.paths.length = 0
    expect(await runCli(words)).toMatchObject({ exit: 0, err: '' })
    // the example of a group is one of its verbs'
    expect(reached.paths[0]).toMatch(new RegExp(`^${path}`))
  })

  it('shows that one example, and the same through help', async () => {
    const { exit, out } = await runCli([...path.split(' '), '--help'])
    expect(exit).toBe(0)
    expect(out.split('Example:')).toHaveLength(2)
    expect(out).toContain(`\n  $ ${spec.example}\n`)
    expect(await runCli(['help', ...path.split(' ')])).toMatchObject({ exit: 0, out, err: '' })
    for (const word of [spec.summary, ...(spec.more ?? [])]) {
      expect(out.replaceAll(/\s+/g, ' ')).toContain(word)
    }
  })
})

describe('hstore --help', () => {
  it('lists every verb once, in groups, and is what help prints', async () => {
    const { out } = await runCli(['--help'])
    for (const { name } of verbs) expect(out.match(new RegExp(`^  ${name} `, 'gm'))).toHaveLength(1)
    const groups = new Set(verbs.flatMap(({ group }) => (group === undefined ? [] : [`${group}:`])))
    expect(out.match(/^[A-Z][a-z ]+:$/gm)).toEqual(['Options:', ...groups, 'More:'])
    expect(await runCli(['help'])).toMatchObject({ exit: 0, out, err: '' })
  })

  it('is no answer to a verb that is none', async () => {
    for (const words of ['help nope', 'help put nope', 'key nope', 'nope']) {
      const { exit, out, err } = await runCli(words.split(' '))
      expect({ exit, out }).toEqual({ exit: 2, out: '' })
      expect(err.trimEnd().split('\n')).toHaveLength(1)
    }
  })
})
