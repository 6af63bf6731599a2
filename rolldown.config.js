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

export default defineConfig({
  platform: 'node',
  external: ['bcrypt-pbkdf'],
  plugins: [
    {
      name: 'addon-in-place',
      load: {
        filter: { id: /classic-level[\\/]binding\.js$/ },
        handler: () => ({ code: binding, moduleType: 'js' }),
      },
    },
  ],
  output: {
    format: 'esm',
    // one file, but for the large validator that only papers need, and for what prints completion scripts
    codeSplitting: {
      groups: [{ name: 'hstore', test: /^(?!.*(?:generated[\\/]paper|[\\/]completion[\\/.]))/ }],
    },
  },
})
