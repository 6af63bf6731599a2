import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { makeTempFolder } from '../support/temp-folder.ts'

const demo = fileURLToPath(new URL('../../dist/src/cli/demo.js', import.meta.url))

/** What the story has to come to, in this order. */
const story = [
  'genesis',
  'R0003 by csag:agent/merger',
  'lane open    tide-gauge: csag:agent/merger at epoch 1',
  'turn append',
  'lane propose',
  'PENDING_REACHABILITY_UNCHECKED: nothing is written',
  'offer to csag:agent/agent-a: stored\n',
  'merger asks: ',
  'READY over board:v2',
  'BLOCKED_UNREAD_PREDECESSOR: nothing is written',
  'HANDOFF_COMMIT_ALLOWED',
  'complete for csag:agent/agent-a, exit 0',
  'next: ',
  'STATUS_TRANSITION_ALLOWED',
  'stored, seen, acked, committed, done\n',
  'BLOCKED_WRITER_NOT_OWNER',
  'BLOCKED_REVOKED_AUTHORITY_EPOCH',
  'unsafe for csag:agent/merger, exit 5',
  'unsafe for csag:agent/agent-a, exit 5',
  'HS1002',
]

describe('npm start', () => {
  it('tells the whole story, and leaves nothing behind', async () => {
    const folder = await makeTempFolder()
    const env = { PATH: process.env['PATH'], TMPDIR: folder, HOME: folder }
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [demo], { env })
    let at = 0
    for (const part of story) {
      const found = stdout.indexOf(part, at)
      expect(found, `${part}\n${stdout}`).toBeGreaterThanOrEqual(0)
      at = found + part.length
    }
    expect(stderr).toBe('')
    expect(stdout.split('\n').every((line) => line.length < 160)).toBe(true)
    expect(await readdir(folder)).toEqual([])
  })
})
