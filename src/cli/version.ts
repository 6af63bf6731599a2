import { readFileSync } from 'node:fs'

let known: string | undefined

/** Returns the version of this package, read once. */
export function version(): string {
  known ??= readVersion()
  return known
}

function readVersion(): string {
  // from src/cli as from dist/src/cli, the package is the nearest folder with a package.json
  for (let at = new URL('.', import.meta.url); ; at = new URL('..', at)) {
    try {
      return (JSON.parse(readFileSync(new URL('package.json', at), 'utf8')) as { version: string })
        .version
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || at.pathname === '/') throw error
    }
  }
}
