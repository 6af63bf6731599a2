import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Script } from 'node:vm'

/*
 * The program is loaded with the code that V8 made of it when it was built: else making it takes as long as node's own
 * start. V8 refuses what another V8 has made; that both files are whole and belong together it does not look at, so they
 * have a checksum. Without the code all works, later.
 */

/** A file that was loaded. */
interface Loaded {
  readonly script: Script
  readonly module: { exports: unknown }
}

const loaded = new Map<string, Loaded>()

/** Returns what a CommonJS file exports. What it requires from its own folder is loaded in the same way. */
export function load(file: string): unknown {
  const known = loaded.get(file)
  if (known !== undefined) return known.module.exports
  const { Script: Code, constants } = process.getBuiltinModule('node:vm')
  const bytes = readFileSync(file)
  // it is built of ASCII: any other character would make all of them take twice the room
  const source = bytes.toString('latin1')
  const head = '(function (exports, require, module, __filename, __dirname) {'
  const script = new Code(`${head}${source}\n})`, {
    filename: file,
    cachedData: findCode(file, bytes),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  })
  const module = { exports: {} }
  loaded.set(file, { script, module })
  const folder = dirname(file)
  const required = createRequire(file)
  const own = (name: string): unknown =>
    name.startsWith('./') ? load(join(folder, name)) : required(name)
  const run = script.runInThisContext() as (...given: unknown[]) => void
  run.call(module.exports, module.exports, Object.assign(own, required), module, file, folder)
  return module.exports
}

/** Keeps the code that V8 has made by now of all that was loaded. */
export function keepCode(): void {
  for (const [file, { script }] of loaded) {
    const code = script.createCachedData()
    const sum = Buffer.alloc(4)
    sum.writeUInt32BE(sumOf(readFileSync(file), code))
    writeFileSync(codePath(file), Buffer.concat([sum, code]))
  }
}

function codePath(file: string): string {
  return `${file}.code`
}

function findCode(file: string, source: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(codePath(file))
    const code = bytes.subarray(4)
    return bytes.readUInt32BE() === sumOf(source, code) ? code : undefined
  } catch {
    return undefined
  }
}

function sumOf(source: Buffer, code: Buffer): number {
  const { crc32 } = process.getBuiltinModule('node:zlib')
  return crc32(code, crc32(source))
}
