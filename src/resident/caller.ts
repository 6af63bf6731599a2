import { readlinkSync, statSync } from 'node:fs'

/**
 * Returns what two processes have to have in common for one to do the other's work: the build, the runtime, the user
 * with all groups, the mask of new files, and the tree of files that a path is looked up in. In one line.
 *
 * @param build - Which build this is.
 */
export function callerOf(build: string): string {
  const { dev, ino } = statSync('/', { bigint: true })
  return [
    build,
    process.version,
    process.getuid?.(),
    process.geteuid?.(),
    process.getgid?.(),
    process.getegid?.(),
    process.getgroups?.().join(','),
    process.umask(),
    `${dev}-${ino}`,
    mountsOf(),
  ].join(' ')
}

/** Linux tells apart trees of mounted files; elsewhere there is one. */
function mountsOf(): string {
  try {
    return readlinkSync('/proc/self/ns/mnt')
  } catch {
    return ''
  }
}
