// Makes one bundle of hstore's sources and the fuzz targets, beside node_modules, which it loads packages from.
import path from 'node:path'
import { rolldown } from 'rolldown'

/**
 * @param {string} root the repository
 * @param {'cjs' | 'esm'} format CommonJS is what the coverage-guided fuzzer can follow
 * @returns {Promise<string>} the path of the bundle
 */
export async function bundle(root, format = 'esm') {
  const built = await rolldown({
    input: { main: path.join(root, 'test/fuzz/main.ts') },
    platform: 'node',
    transform: { target: 'node20' },
    external: /^(?!@oxc-project\/)[^./\0]/,
    logLevel: 'silent',
  })
  const extension = format === 'esm' ? 'mjs' : 'cjs'
  const dir = path.join(root, 'dist.fuzz')
  await built.write({
    dir,
    format,
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `[name].${extension}`,
  })
  await built.close()
  return path.join(dir, `main.${extension}`)
}
