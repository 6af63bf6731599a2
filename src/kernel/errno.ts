const words: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'permission is denied: check owner and mode, also of the folders above'],
  ['EADDRINUSE', 'another program listens there: name another port'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
  ['EBADF', 'it was not opened to be read'],
  ['EBUSY', 'it is in use: try again'],
  ['EDQUOT', 'the quota is used up: make room and try again'],
  ['EEXIST', 'something is there already: name another path'],
  ['EFBIG', 'the file system takes no file of that size'],
  ['EIO', 'the disk does not answer as it should: check it'],
  ['EISDIR', 'it is a folder: name a file'],
  ['ELOOP', 'its links lead in a circle: name another path'],
  ['EMFILE', 'this process has too many files open: try again'],
  ['ENAMETOOLONG', 'a name in it is too long for the file system: name a shorter path'],
  ['ENFILE', 'the system has too many files open: try again'],
  ['ENODEV', 'there is no such device'],
  ['ENOENT', 'there is no such file or folder'],
  ['ENOSPC', 'the disk is full: make room and try again'],
  ['ENOTDIR', 'a file stands where a folder is wanted: name another path'],
  ['ENOTFOUND', 'no host has that name'],
  ['ENOTEMPTY', 'the folder is not empty: name a new one'],
  ['ENXIO', 'there is no such device'],
  ['EPERM', 'the system does not allow it: check owner and mode'],
  ['EROFS', 'the file system is read-only: name another path, or mount it to be written'],
  ['ETXTBSY', 'it is being run: try again'],
])

/**
 * Returns in words why the system refused, and what to do, for the end of a message; the code itself where there are no
 * words for it. Of an error that is not the system's, its message.
 */
export function whyOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code !== 'string') return error instanceof Error ? error.message : String(error)
  return words.get(code) ?? code
}

/** Returns what `whyOf` does, for a path that was to be written: that it is not there yet is no reason. */
export function whyUnwritten(error: unknown): string {
  const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT'
  return isAbsent ? 'nothing can be made there: name another path' : whyOf(error)
}
