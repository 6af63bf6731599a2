import { describe, expect, it } from 'vitest'
import { Room } from '../../../src/sync/room.ts'

const none = (): void => undefined

describe('the room of a server', () => {
  it('is bounded, and given back', () => {
    const room = new Room(100)
    const first = room.find(60, none)
    expect(room.find(60, none)).toBeUndefined()
    first![Symbol.dispose]()
    first![Symbol.dispose]()
    expect(room.find(100, none)).toBeDefined()
    expect(room.find(1, none)).toBeUndefined()
  })

  it('is taken from those who are slow, where others need it, and from nobody else', () => {
    let ms = 0
    const room = new Room(100, () => ms)
    const gone: string[] = []
    room.find(50, () => gone.push('silent'))
    const quick = room.find(50, () => gone.push('quick'))
    ms = 4000
    expect(room.find(10, none)).toBeUndefined()
    ms = 10_000
    quick!.moved(1_000_000)
    expect(gone).toEqual([])
    expect(room.find(10, none)).toBeDefined()
    expect(gone).toEqual(['silent'])
    expect(room.find(50, none)).toBeUndefined()
  })

  it('is not taken from those of whom nothing more is waited for', () => {
    let ms = 0
    const room = new Room(100, () => ms)
    room.find(100, none)!.allMoved()
    ms = 60_000
    expect(room.find(1, none)).toBeUndefined()
  })

  it('has few at work at once, and all in their turn', async () => {
    const room = new Room(1)
    let now = 0
    let most = 0
    const done: number[] = []
    const one = (i: number) =>
      room.work(async () => {
        most = Math.max(most, ++now)
        await new Promise((resolve) => setImmediate(resolve))
        now -= 1
        done.push(i)
        if (i === 3) throw new Error('failed')
      })
    const all = Array.from({ length: 20 }, (_, i) => one(i).catch(none))
    await Promise.all(all)
    expect(most).toBe(4)
    expect(done).toHaveLength(20)
  })
})
