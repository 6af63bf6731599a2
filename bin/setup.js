// Makes a fresh clone ready: installs what package-lock.json names, builds dist when a source is newer.
// Plain JavaScript with node: imports only, since nothing else is there yet. Talks on stderr.
'use strict'
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { pathToFileURL } = require('node:url')

const root = path.dirname(__dirname)
const dist = path.join(root, 'dist')
const stamp = path.join(dist, '.built')
const sources = [
  'src',
  'store',
  'keys',
  'tsconfig.json',
  'tsconfig.build.json',
  'bin/setup.js',
  'rolldown.config.js',
  'package-lock.json',
]

/** @param {string} file */
const readJson = (file) => JSON.parse(fs.readFileSync(path.join(root, file), 'utf8'))

/**
 * @param {string} command
 * @param {string[]} args
 * @param {'ignore' | 2} talk where to put what the command says when all goes well
 */
function run(command, args, talk = 2) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', talk, 2] })
  if (result.status === 0) return
  const why = result.error
    ? `: ${result.error.message}`
    : ` (exit ${result.status ?? result.signal})`
  console.error(`hstore setup: ${[path.basename(command), ...args].join(' ')} failed${why}`)
  process.exitCode = 1
  throw new Error('set-up stopped')
}

/** True when node_modules holds what package-lock.json names. npm keeps its own lockfile there. */
function isInstalled() {
  try {
    const have = readJson('node_modules/.package-lock.json').packages
    return Object.entries(readJson('package-lock.json').packages).every(([name, wanted]) => {
      if (name === '') return true
      const there = have[name]?.version === wanted.version && fs.existsSync(path.join(root, name))
      return there || (wanted.optional === true && !fs.existsSync(path.join(root, name)))
    })
  } catch {
    return false
  }
}

function install() {
  if (isInstalled()) return
  console.error('hstore setup: installing packages')
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund']
  const npm = process.env['npm_execpath']
  if (npm !== undefined && /\.c?js$/.test(npm)) run(process.execPath, [npm, ...args])
  else run(process.platform === 'win32' ? 'npm.cmd' : 'npm', args)
}

/** @param {string} file @returns {number} the newest change at or below `file`, in ms since 1970 */
function newest(file) {
  const stat = fs.statSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  if (!stat.isDirectory()) return stat.mtimeMs
  if (path.basename(file) === 'generated') return 0
  return Math.max(
    stat.mtimeMs,
    ...fs.readdirSync(file).map((name) => newest(path.join(file, name))),
  )
}

function isBuilt() {
  const built = fs.statSync(stamp, { throwIfNoEntry: false })
  return (
    built !== undefined && sources.every((name) => newest(path.join(root, name)) <= built.mtimeMs)
  )
}

/**
 * Bundles the command line: loading a hundred small files takes longer than most verbs. The library stays as it is.
 * @param {string} rolldown
 * @param {string} folder
 */
function bundle(rolldown, folder) {
  const from = path.join(folder, 'src/cli/program.js')
  const to = path.join(folder, 'cli')
  const config = path.join(root, 'rolldown.config.js')
  run(process.execPath, [rolldown, '-c', config, '--input', from, '--dir', to], 'ignore')
  // what is loaded before that, in one file
  const first = [
    '--input',
    path.join(folder, 'src/cli/start.js'),
    '--file',
    path.join(to, 'start.cjs'),
  ]
  run(process.execPath, [rolldown, ...first, '--format', 'cjs', '--platform', 'node'], 'ignore')
  for (const name of fs.readdirSync(to)) escapeFile(path.join(to, name))
  // V8's code of what was used goes beside it; without, all works, later
  const warmUp = path.join(folder, 'src/cli/warm-up.js')
  const examples = path.join(root, 'fixtures/history/bundle')
  spawnSync(process.execPath, [warmUp, path.join(to, 'program.cjs'), examples])
}

/**
 * A file of ASCII alone is read as it is. Other characters stand in strings and expressions, where an escape says the same.
 * @param {string} file
 */
function escapeFile(file) {
  const escape = (/** @type {string} */ unit) =>
    `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replaceAll(/[^\0-\x7f]/g, escape))
}

/**
 * Writes the man pages, from the table of verbs that was just compiled.
 * @param {string} folder
 */
async function writeManPages(folder) {
  const load = (/** @type {string} */ name) =>
    import(pathToFileURL(path.join(folder, 'src/cli', name)).href)
  const { globalOptions, programSummary: summary, verbs } = await load('verb-table.js')
  const { manPages } = await load('man.js')
  const { version } = readJson('package.json')
  const to = path.join(folder, 'man/man1')
  fs.mkdirSync(to, { recursive: true })
  for (const { name, roff } of manPages({ summary, version, verbs, globalOptions }))
    fs.writeFileSync(path.join(to, name), roff)
}

/** Builds beside dist and swaps at the end, so that whoever runs meanwhile finds a whole one. */
async function build() {
  // made before the time is taken: else the folder that it stands in is newer than the build, and all is built again
  fs.mkdirSync(path.join(root, 'src/contracts/csag/generated'), { recursive: true })
  const began = new Date(Date.now() + 1)
  console.error('hstore setup: building dist')
  const fresh = `${dist}.${process.pid}`
  const old = `${fresh}.old`
  try {
    run(process.execPath, [
      path.join(root, 'src/contracts/csag/compile.js'),
      '--out',
      path.join(fresh, 'src/contracts/csag/generated'),
    ])
    const tool = (/** @type {string} */ file) => path.join(root, 'node_modules', file)
    run(process.execPath, [
      tool('typescript/bin/tsc'),
      '-p',
      'tsconfig.build.json',
      '--outDir',
      fresh,
    ])
    bundle(tool('rolldown/bin/cli.mjs'), fresh)
    await writeManPages(fresh)
    fs.writeFileSync(path.join(fresh, '.built'), '')
    fs.utimesSync(path.join(fresh, '.built'), began, began)
    if (fs.existsSync(dist)) fs.renameSync(dist, old)
    fs.renameSync(fresh, dist)
  } finally {
    for (const folder of [fresh, old]) fs.rmSync(folder, { recursive: true, force: true })
  }
}

async function setUp() {
  try {
    install()
    if (process.argv.includes('--build') || !isBuilt()) await build()
  } catch (error) {
    // what failed has told why
    if (process.exitCode === undefined) throw error
    process.exit()
  }
}

/** Resolves when all is ready. */
exports.ready = setUp()
