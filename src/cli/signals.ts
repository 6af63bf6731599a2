import { removeTemporaries } from '../kernel/temporaries.ts'

/**
 * Lets a signal that ends this process take its temporary files along. The process ends by that same signal, so that a
 * shell sees 128 and its number, and a script that was interrupted stops.
 */
export function cleanUpOnSignals(): void {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    const end = (): void => {
      // whoever else listens, as while a pager has the terminal, wants to go on
      if (process.listenerCount(signal) > 1) return
      removeTemporaries()
      process.off(signal, end)
      process.kill(process.pid, signal)
    }
    process.on(signal, end)
  }
}
