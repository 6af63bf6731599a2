import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { page } from '../../src/cli/process-pager.ts'
import { makeSharedFolder } from '../support/store.ts'

const shared = await makeSharedFolder()
const env = { PATH: process.env['PATH'] }
const large = 'a line of history\n'.repeat(100_000)

describe('a pager', () => {
  it('gets all of the text and the environment, by way of a shell where it is more than a word', async () => {
    const out = path.join(shared, 'out')
    expect(await page('tr a-z A-Z >"$OUT"', { ...env, OUT: out }, large)).toBe(true)
    expect(await readFile(out, 'utf8')).toBe(large.toUpperCase())
  })

  it('may leave early or fail', async () => {
    expect(await page('true', env, large)).toBe(true)
    expect(await page('exit 3', env, large)).toBe(true)
    expect(await page('kill -9 $$', env, large)).toBe(true)
  })

  it('that is not there is told from one that left', async () => {
    expect(await page('hstore-no-such-pager', env, large)).toBe(false)
    expect(await page('hstore-no-such-pager -x 2>&-', env, large)).toBe(false)
    expect(await page('less', { PATH: shared }, large)).toBe(false)
  })

  it('has Ctrl-C for itself while it is there', async () => {
    const before = process.listenerCount('SIGINT')
    const shown = page('sleep 0.1', env, large)
    expect(process.listenerCount('SIGINT')).toBe(before + 1)
    await shown
    expect(process.listenerCount('SIGINT')).toBe(before)
  })
})
