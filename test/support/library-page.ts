import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const rooms = { hstore: 'src', 'hstore/keys': 'keys', 'hstore/store': 'store' } as const

/** A function or method that the library offers. */
export interface Door {
  readonly name: string
  readonly returns: string
}

function read(file: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8')
}

/** Returns what an entry point exports: each name with the file that it is from. */
function exportsOf(room: string): ReadonlyMap<string, string> {
  const lists = read(`${room}/index.ts`).matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)
  return new Map(
    [...lists].flatMap(([, names = '', file = '']) =>
      (names.match(/\w+/g) ?? []).map((name) => [name, `${room}/${file}`] as const),
    ),
  )
}

/** Returns every public function, and every method of `Store`, as the built declarations have them. */
export function doors(): readonly Door[] {
  const functions = Object.values(rooms).flatMap((room) =>
    [...exportsOf(room)].flatMap(([name, file]) => {
      const form = new RegExp(`^export declare function ${name}\\([^]*?\\): ([^]*?);$`, 'm')
      const returns = form.exec(declarations(file))?.[1]
      return returns === undefined ? [] : [{ name, returns: plainType(returns) }]
    }),
  )
  const methods = declarations('src/open-store.ts').matchAll(
    /^ {4}(\w+)\(.*\): (Promise<[^]*?>);$/gm,
  )
  const ofStore = [...methods].map(([, name = '', returns = '']) => ({
    name,
    returns: plainType(returns),
  }))
  return [...functions, ...ofStore]
}

function declarations(file: string): string {
  return read(`dist/${file.replace(/\.ts$/, '.d.ts')}`)
}

/** `{ readonly new: boolean; }` is `{ new: boolean }` to a reader. */
function plainType(type: string): string {
  return type.replaceAll(/\s+/g, ' ').replaceAll('; }', ' }').replaceAll('{ readonly ', '{ ')
}

/** Returns a module that compiles when every type that `shapes` declares is what the library has. */
export function shapesModule(shapes: readonly string[]): string {
  const text = shapes.join('\n')
  const declared = [...text.matchAll(/^(?:interface|type) (\w+)/gm)].map(([, name = '']) => name)
  const checks = declared.map((name) => {
    const from = Object.entries(rooms).find(([, room]) => exportsOf(room).has(name))?.[0]
    return `export const is${name}: Same<import('${from}').${name}, ${name}> = true`
  })
  return [
    "import type { VerifiedEntry } from 'hstore'",
    text,
    'type Keys<A, B> = [keyof A] extends [keyof B] ? true : false',
    'type Same<Real, Shown> = [Real] extends [Shown] ? Keys<Real, Shown> & Keys<Shown, Real> : false',
    ...checks,
    '',
  ].join('\n')
}
