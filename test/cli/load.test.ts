import { spawnSync } from 'node:child_process'
import { cp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { makeSharedFolder } from '../support/store.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const shared = await makeSharedFolder()
let copies = 0

/** A copy of what is built, and how its launcher answers. */
async function copyBuild(): Promise<{ readonly cli: string; readonly run: () => string }> {
  const folder = path.join(shared, `build-${copies++}`)
  for (const part of ['bin', 'package.json', 'dist/cli', 'dist/.built'])
    await cp(path.join(root, part), path.join(folder, part), { recursive: true })
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
  const run = (): string => {
    const argv = [path.join(folder, 'bin/hstore'), 'verify', '--store', folder]
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, argv)
    return `${status} ${signal} ${stdout.toString()}${stderr.toString().replaceAll(folder, '')}`
  }
  return { cli: path.join(folder, 'dist/cli'), run }
}

const codesIn = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.code'))

describe('the code that V8 has made of the program', () => {
  it('is there for each file that verbs load', async () => {
    const of = (await codesIn(path.join(root, 'dist/cli'))).map((name) =>
      name.replace(/[-.].*/, ''),
    )
    expect(of).toEqual(expect.arrayContaining(['first', 'hstore', 'program']))
  })

  it('stands beside sources of ASCII alone', async () => {
    for (const name of await readdir(path.join(root, 'dist/cli'))) {
      if (!name.endsWith('.cjs')) continue
      const text = await readFile(path.join(root, 'dist/cli', name), 'utf8')
      // oxlint-disable-next-line no-control-regex -- what is looked for is what is not ASCII
      expect(/[^\0-\x7f]/.test(text), name).toBe(false)
    }
  })

  it('is not used when it is damaged, cut or gone, or its source is another', async () => {
    const { cli, run } = await copyBuild()
    const told = run()
    expect(told).toMatch(/^2 null hstore: .* is no store/)
    const names = (await codesIn(cli)).filter((name) => /^(?:first|hstore)/.test(name))
    for (const name of names) {
      const file = path.join(cli, name)
      const whole = await readFile(file)
      for (let at = 8; at < whole.length; at += Math.floor(whole.length / 8)) {
        const damaged = Buffer.from(whole)
        damaged.fill(0xa5, at, at + 16)
        await writeFile(file, damaged)
        expect(run()).toBe(told)
      }
      for (const length of [0, 3, 4, 1000]) {
        await writeFile(file, whole.subarray(0, length))
        expect(run()).toBe(told)
      }
      await writeFile(file, whole)
      await rm(file)
      expect(run()).toBe(told)
      await writeFile(file, whole)
    }
    for (const name of names) {
      const source = path.join(cli, name.replace(/\.code$/, ''))
      const text = await readFile(source, 'utf8')
      // as long as before, which is all that V8 looks at
      await writeFile(source, text.replaceAll('is no store', 'is no STORE'))
    }
    expect(run()).toBe(told.replace('is no store', 'is no STORE'))
  })
})
