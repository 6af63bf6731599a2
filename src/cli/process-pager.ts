import { spawn } from 'node:child_process'
import type { Io } from './io.ts'

const notFound: ReadonlySet<number | null> = new Set([126, 127])

/** Shows text through a pager, as `Terminal.page` says. A command of more than one plain word goes through `sh`. */
export async function page(command: string, env: Io['env'], text: string): Promise<boolean> {
  const isWord = /^[\w./+-]+$/.test(command)
  const pager = spawn(isWord ? command : 'sh', isWord ? [] : ['-c', command], {
    env,
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  const stay = (): void => undefined
  // Ctrl-C is for the pager, which would be left alone with the terminal
  process.on('SIGINT', stay)
  try {
    // a reader that leaves early closes this end
    pager.stdin.on('error', stay)
    pager.stdin.end(text)
    return await new Promise((resolve) => {
      pager.once('error', () => resolve(false))
      pager.once('close', (code) => resolve(!notFound.has(code)))
    })
  } finally {
    process.off('SIGINT', stay)
  }
}
