import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Builds `dist` when a source is newer, so that tests of real processes run what is on disk. */
export default function setup(): void {
  execFileSync(process.execPath, [fileURLToPath(new URL('../../bin/setup.js', import.meta.url))], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
}
