import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8')

/** The first words of the rows of the table of messages. */
function messagesOnPage(): string[] {
  const [, after = ''] = read('docs/sync.md').split('### The protocol')
  return [...after.matchAll(/^\| ([a-z]+) +\|/gm)].map(([, word]) => word!)
}

it('docs/sync.md names the messages that a server answers, each once, in their order', () => {
  const [, table = ''] =
    /const handlers[^[]*\[([^;]*?)\n\]\)/.exec(read('src/sync/answer.ts')) ?? []
  const answered = [...table.matchAll(/^ +\['([a-z]+)',/gm)].map(([, word]) => word!)
  expect(answered).toContain('hello')
  expect(messagesOnPage()).toEqual(answered)
})
