import { removeTemporaries } from '../kernel/temporaries.ts'

/** So long what is open is waited for. */
const closeMs = 5000
const open = new Set<() => Promise<void>>()

/** Lets a signal that ends this process close something first. */
export function closeOnSignals(close: () => Promise<void>): void {
  open.add(close)
}

/**
 * Lets a signal that ends this process take its temporary files along, and close what is open; a second one ends it at
 * once. The process ends by that same signal, so that a shell sees 128 and its number, and a script that was interrupted
 * stops.
 */
export function cleanUpOnSignals(): void {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    const end = (): void => {
      // whoever else listens, as while a pager has the terminal, wants to go on
      if (process.listenerCount(signal) > 1) return
      process.off(signal, end)
      const kill = (): void => {
        removeTemporaries()
        process.kill(process.pid, signal)
      }
      if (open.size === 0) return kill()
      setTimeout(kill, closeMs)
      void Promise.allSettled(Array.from(open, (close) => close())).then(kill)
    }
    process.on(signal, end)
  }
}
