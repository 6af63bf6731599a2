import { execFileSync } from 'node:child_process'

/** Two hosts of their own, each with an address that the other reaches, or two addresses of loopback. */
export interface TwoHosts extends Disposable {
  readonly addresses: readonly [string, string]
  /** Words that run a program on one of them. */
  readonly on: readonly [readonly string[], readonly string[]]
}

function ip(...words: readonly string[]): void {
  execFileSync('ip', words, { stdio: 'ignore' })
}

/** Makes two network namespaces that a cable joins; undefined where this user may not, or the kernel can't. */
export function findNamespaces(): TwoHosts | undefined {
  const names = ['a', 'b'].map((side) => `hs${process.pid}${side}`) as [string, string]
  const addresses = ['10.213.77.1', '10.213.77.2'] as const
  const remove = (): void => {
    for (const name of names) {
      try {
        ip('netns', 'del', name)
      } catch {
        // it was not made
      }
    }
  }
  try {
    for (const name of names) ip('netns', 'add', name)
    ip(
      'link',
      'add',
      names[0],
      'netns',
      names[0],
      'type',
      'veth',
      'peer',
      names[1],
      'netns',
      names[1],
    )
    for (const [i, name] of names.entries()) {
      ip('-n', name, 'addr', 'add', `${addresses[i]!}/30`, 'dev', name)
      ip('-n', name, 'link', 'set', name, 'up')
    }
  } catch {
    remove()
    return undefined
  }
  const on = names.map((name) => ['ip', 'netns', 'exec', name])
  return { addresses, on: [on[0]!, on[1]!], [Symbol.dispose]: remove }
}

/** Returns two addresses of loopback, which stand for two hosts. */
export function loopbackHosts(): TwoHosts {
  return {
    addresses: ['127.0.0.1', '127.0.0.2'],
    on: [[], []],
    [Symbol.dispose]: () => undefined,
  }
}
