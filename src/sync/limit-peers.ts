import type { Socket } from 'node:net'

/** Connections from one address: others find a place. */
const maxOfAddress = 128

/** Returns what refuses connections of an address that has many. */
export function limitPeers(): (socket: Socket) => void {
  const counts = new Map<string, number>()
  return (socket) => {
    const address = socket.remoteAddress ?? ''
    const count = (counts.get(address) ?? 0) + 1
    if (count > maxOfAddress) {
      socket.destroy()
      return
    }
    counts.set(address, count)
    socket.once('close', () => {
      const left = counts.get(address)! - 1
      if (left === 0) counts.delete(address)
      else counts.set(address, left)
    })
  }
}
