import { timingSafeEqual } from 'node:crypto'
import { passedNames } from './environment.ts'

/** What a process asks to be done in its place. */
export interface Request {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const maxWords = 4096

/** Returns the request that a frame holds; undefined for what is none, or does not show the token. */
export function parseRequest(
  bytes: Uint8Array,
  token: string,
): (Request & { readonly caller: string }) | undefined {
  const value = parsed(bytes)
  if (value === undefined || !isToken(value['token'], token)) return undefined
  const { argv, cwd, caller } = value
  const env = passedOf(value['env'])
  if (!Array.isArray(argv) || argv.length > maxWords || !argv.every(isText)) return undefined
  if (!isText(cwd) || !cwd.startsWith('/') || !isText(caller) || env === undefined) return undefined
  return { argv, cwd, env, caller }
}

function passedOf(env: unknown): Record<string, string> | undefined {
  if (typeof env !== 'object' || env === null) return undefined
  const given: Record<string, string> = {}
  for (const name of passedNames) {
    const text: unknown = Object.hasOwn(env, name) ? Reflect.get(env, name) : undefined
    if (isText(text)) given[name] = text
    else if (text !== undefined) return undefined
  }
  return given
}

function parsed(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0')
}

function isToken(value: unknown, token: string): boolean {
  if (typeof value !== 'string') return false
  const [given, wanted] = [Buffer.from(value), Buffer.from(token)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}
