// Makes one bundle of hstore's sources and the fuzz targets, beside node_modules, which it loads packages from.
import path from 'node:path'
import { rolldown } from 'rolldown'

/**
 * @param {string} root the repository
 * @param {'guided' | 'main'} name the file to start from
 * @param {'cjs' | 'esm'} format CommonJS is what the coverage-guided fuzzer can follow
 * @returns {Promise<string>} the path of the bundle
 */
export async function bundle(root, name = 'main', format = 'esm') {
  const built = await rolldown({
    input: path.join(root, 'test/fuzz', `${name}.ts`),
    platform: 'node',
    transform: { target: 'node20' },
    external: /^(?!@oxc-project\/)[^./\0]/,
    logLevel: 'silent',
  })
  const file = path.join(root, 'dist.fuzz', `${name}.${format === 'esm' ? 'mjs' : 'cjs'}`)
  await built.write({ file, format, codeSplitting: false })
  await built.close()
  return file
}
