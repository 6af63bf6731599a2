// Bundles the fuzz targets with hstore's sources and runs them: `npm run fuzz -- --help`. Plain JavaScript, since Node 20
// does not read TypeScript.
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.mjs'

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))))
// This file starts itself for each target; the bundle of whoever started it is there then.
const file = process.argv[2] === '--task' ? undefined : await bundle(root)
const { main } = await import(file ?? path.join(root, 'dist.fuzz', 'main.mjs'))
process.exitCode = await main(process.argv.slice(2), root)
