// The bundle of the command line. What it loads decides how long a verb takes to start.
import { defineConfig } from 'rolldown'

/** The search for the addon walks folders at each start; the place is known where a prebuilt one fits. */
const binding = `
const { dirname, join } = require('node:path')
const near = { paths: [dirname(require.resolve('level'))] }
const root = dirname(require.resolve('classic-level', near))
try {
  const platform = process.platform + '-' + process.arch
  module.exports = require(join(root, 'prebuilds', platform, 'classic-level.node'))
} catch {
  module.exports = require(require.resolve('node-gyp-build', { paths: [root] }))(root)
}
`

/** What a guard before each effect waits for stands in a file of its own: it loads no verb but `may-act`. */
const first = new Set()
const firstEntries = /[\\/]src[\\/]cli[\\/](?:program|process-io|verbs[\\/]may-act)\.js$/
const firstPackages =
  /rolldown[\\/]runtime|node_modules[\\/](?:commander|level|[a-z]+-level|level-[a-z]+)[\\/]/

/** @param {string} id */
const isFirst = (id) => first.has(id) || firstPackages.test(id)

export default defineConfig({
  platform: 'node',
  external: ['bcrypt-pbkdf'],
  plugins: [
    {
      name: 'first-file',
      buildEnd() {
        const waiting = [...this.getModuleIds()].filter((id) => firstEntries.test(id))
        for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
          if (first.has(id)) continue
          first.add(id)
          waiting.push(...(this.getModuleInfo(id)?.importedIds ?? []))
        }
      },
    },
    {
      name: 'addon-in-place',
      load: {
        filter: { id: /classic-level[\\/]binding\.js$/ },
        handler: () => ({ code: binding, moduleType: 'js' }),
      },
    },
  ],
  output: {
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    // two files, but for the large validator that only papers need, and for what prints completion scripts
    codeSplitting: {
      groups: [
        { name: 'first', test: isFirst, priority: 1 },
        { name: 'hstore', test: /^(?!.*(?:generated[\\/]paper|[\\/]completion[\\/.]))/ },
      ],
    },
  },
})
