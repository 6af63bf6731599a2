import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

const config = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2023',
    types: ['node'],
    lib: ['es2023', 'esnext.disposable'],
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    outDir: 'built',
  },
  include: ['*.mts'],
}

/**
 * Compiles examples as whoever installed the package would, in a folder of their own, and returns the paths of the
 * programs. Throws with the compiler's words when one does not compile.
 */
export async function compileExamples(
  folder: string,
  examples: readonly string[],
): Promise<readonly string[]> {
  await mkdir(path.join(folder, 'node_modules', '@types'), { recursive: true })
  await symlink(root, path.join(folder, 'node_modules', 'hstore'))
  const types = path.join('node_modules', '@types', 'node')
  await symlink(path.join(root, types), path.join(folder, types))
  await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify(config))
  for (const [i, text] of examples.entries()) {
    await writeFile(path.join(folder, `example-${i}.mts`), text)
  }
  run(path.join(root, 'node_modules', 'typescript', 'bin', 'tsc'), ['-p', folder], folder)
  return examples.map((_, i) => path.join(folder, 'built', `example-${i}.mjs`))
}

/** Runs a program with an environment that names no home and returns what it printed. */
export function run(program: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(process.execPath, [program, ...args], {
      cwd,
      env: {},
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    throw new Error(`${path.basename(program)}: ${stdout}${stderr}`, { cause: error })
  }
}
