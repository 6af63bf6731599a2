import { lstat, readlink } from 'node:fs/promises'
import { splitPath } from './locator.ts'
import { isWellFormed } from '../../../store/utf8.ts'

/** Where a path leads once links are followed. */
export interface WalkedPath {
  /** Absolute, without links and dots as far as it exists. */
  readonly path: string
  readonly linked: boolean
  /** Whether each directory that the path goes through exists. */
  readonly solid: boolean
}

/** More links than these in one path are taken for a loop, as Linux takes them. */
const MAX_LINKS = 40

/** Longer paths exist nowhere (PATH_MAX of Linux): they are not looked up. */
const MAX_PATH_LENGTH = 4096

type Step = { readonly kind: 'directory' | 'none' | 'other' } | Link

interface Link {
  readonly kind: 'link'
  /** Undefined when its bytes are not UTF-8. */
  readonly target: string | undefined
}

const NONE: Step = { kind: 'none' }

/**
 * Follows paths component by component, as CPython's `realpath` does: `..` applies to what links led to, and what does
 * not exist is taken as spelled. Remembers what it saw, so it serves one judgement.
 */
export class FileWalk {
  private readonly steps = new Map<string, Step>()

  /**
   * Returns where `segments` lead from `directory`, or undefined for a loop of links or a link that is not UTF-8.
   *
   * @param directory - Absolute and link-resolved.
   */
  async follow(directory: string, segments: readonly string[]): Promise<WalkedPath | undefined> {
    const pending = segments.toReversed()
    const at = new Position(directory)
    let links = 0
    let solid = true
    for (let segment = pending.pop(); segment !== undefined; segment = pending.pop()) {
      if (segment === '' || segment === '.') continue
      if (solid) solid = (await this.look(at)).kind === 'directory'
      if (segment === '..') {
        at.leave()
        continue
      }
      at.enter(segment)
      const step = await this.lookInside(at)
      if (step.kind !== 'link') continue
      links += 1
      if (links > MAX_LINKS || step.target === undefined) return undefined
      if (step.target.startsWith('/')) at.goToRoot()
      else at.leave()
      for (const part of splitPath(step.target).toReversed()) pending.push(part)
    }
    return { path: at.path(), linked: links > 0, solid }
  }

  /** Below what is no directory nothing is, so a long way over what is missing costs no look for each component. */
  private async lookInside(at: Position): Promise<Step> {
    if (at.isDead) return NONE
    const step = await this.look(at)
    if (step.kind === 'none' || step.kind === 'other') at.die()
    return step
  }

  private async look(at: Position): Promise<Step> {
    if (at.length > MAX_PATH_LENGTH) return NONE
    const path = at.path()
    const known = this.steps.get(path)
    if (known !== undefined) return known
    const step = await lookAt(path)
    this.steps.set(path, step)
    return step
  }
}

/** An absolute path as a stack, so that a long one costs no copy for each of its components. */
class Position {
  private parts: string[]
  /** Components down to the first that is no directory. */
  private alive = Number.POSITIVE_INFINITY
  length: number

  constructor(absolute: string) {
    this.parts = absolute.split('/').filter((part) => part !== '')
    this.length = absolute.length
  }

  enter(segment: string): void {
    this.parts.push(segment)
    this.length += segment.length + 1
  }

  leave(): void {
    const left = this.parts.pop()
    if (left !== undefined) this.length -= left.length + 1
    if (this.parts.length < this.alive) this.alive = Number.POSITIVE_INFINITY
  }

  /** Whether nothing can be at this place. */
  get isDead(): boolean {
    return this.parts.length > this.alive
  }

  /** Notes that there is no directory at this place. */
  die(): void {
    this.alive = this.parts.length
  }

  goToRoot(): void {
    this.parts = []
    this.length = 0
    this.alive = Number.POSITIVE_INFINITY
  }

  path(): string {
    return `/${this.parts.join('/')}`
  }
}

async function lookAt(path: string): Promise<Step> {
  // The system would take a lone surrogate for U+FFFD and find another file.
  if (path.includes('\0') || !isWellFormed(path)) return NONE
  try {
    const stats = await lstat(path)
    if (!stats.isSymbolicLink()) return { kind: stats.isDirectory() ? 'directory' : 'other' }
    const bytes = await readlink(path, { encoding: 'buffer' })
    const target = bytes.toString()
    return { kind: 'link', target: Buffer.from(target).equals(bytes) ? target : undefined }
  } catch {
    return NONE
  }
}
