import { chmod, cp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { keyPath } from '../../keys/key-ring.ts'
import { pae } from '../../keys/pae.ts'
import { openSigner, signerOfSeed } from '../../keys/signer.ts'
import { cidTextOf } from '../../store/cid-text.ts'
import { decodeBlock, encodeBlock } from '../../store/codec.ts'
import { bytesOf, sha256 } from './envelope.ts'
import type { Given } from './given-cases.ts'
import { bytesIn, workedBundle } from './given-cases.ts'
import { expectRefused } from './refusal.ts'
import type { TestStore } from './store.ts'
import { agents, digestOf, json, makeTestStore, ok, withLevel } from './store.ts'
import { makeTempFolder } from './temp-folder.ts'

interface Loose {
  readonly payload: Readonly<Record<string, unknown>>
  readonly sig?: unknown
}

/** The cases of entries, artifacts and checks: r18, r32, r41, r52. */
export function describeEntryCases(given: Given): void {
  describe('r18: a bad signature', () => {
    it('is refused, and so is who may not speak for the author', async () => {
      const { store, head } = await withEntry(given)
      const merger = await openSigner(keyPath(store.keys, agents.merger), undefined)
      const other = signerOfSeed(bytesOf('other', 32)).did
      const { payload, sig } = head
      const turned = Uint8Array.from(sig, (byte, i) => (i === 9 ? byte ^ 1 : byte))
      const authored = { ...payload, author: agents.a }
      const type = 'application/vnd.hstore.entry.v1+dag-json'
      const made: readonly Loose[] = [
        { payload, sig: turned },
        { payload: { ...payload, signer: other }, sig },
        { payload: authored, sig: merger.sign(pae(type, encodeBlock(authored))) },
        { payload: { ...authored, signer: other }, sig },
      ]
      for (const loose of made) await expectUnsafe(store, loose)
    })
  })

  describe('r32: an entry without a signature', () => {
    it('is a block that can be read, and no entry', () => {
      for (const name of ['empty-sig.json', 'no-sig.json', 'null-sig.json']) {
        expect(decodeBlock(bytesIn(given, 'r32-unsigned-passes', name))).toHaveProperty('payload')
      }
    })
    it('is refused by verify and resume', async () => {
      const { store, head } = await withEntry(given)
      const { payload } = head
      const sigs = [null, new Uint8Array(), new Uint8Array(64)]
      for (const loose of [{ payload }, ...sigs.map((sig) => ({ payload, sig }))]) {
        await expectUnsafe(store, loose)
      }
    })
  })

  describe('r41: a signature that says nothing of the file', () => {
    it('does not let another file of the same size in', async () => {
      const root = await makeTempFolder()
      const store = await makeTestStore(root)
      const bundle = path.join(root, 'bundle')
      await cp(workedBundle(given).folder, bundle, { recursive: true })
      const file = path.join(bundle, 'source_snapshot.md')
      const named = sha256(await readFile(file))
      await chmod(file, 0o600)
      await writeFile(file, 'x'.repeat(164))
      const before = await digestOf(store.store)
      const put = ['put', path.join(bundle, 'two_agent_handoff.valid.json')]
      const names = ['source_snapshot.md', named, sha256('x'.repeat(164))]
      await expectRefused(store, put, { exit: 1, names })
      expect(await digestOf(store.store)).toBe(before)
    })

    it('does not hide that the file was changed later', async () => {
      const { store, cid, artifact } = await withEntry(given)
      const out = path.join(store.root, 'out')
      const laid = (await ok(store.run('get', cid, '--out', out))).out.trim()
      expect((await store.run('validate', laid)).exit).toBe(0)
      await writeFile(path.join(out, 'source_snapshot.md'), 'changed')
      expect((await store.run('validate', laid)).exit).toBe(1)
      await withLevel(store.store, async (level) => {
        const bytes = (await level.get(`!blocks!${artifact}`)).slice()
        bytes[7]! ^= 1
        await level.put(`!blocks!${artifact}`, bytes)
      })
      for (const argv of [
        ['verify', '--all'],
        ['verify', cid],
        ['resume', cid],
        ['get', artifact],
      ]) {
        const { exit, out: shown, err } = await store.run(...argv)
        expect({ argv, exit }).toEqual({ argv, exit: 5 })
        expect(`${shown}${err}`).toContain(artifact)
      }
    })
  })

  describe('r52: nothing checked', () => {
    it('is said in words, and is not clean', async () => {
      const store = await makeTestStore(await makeTempFolder())
      const empty = bytesIn(given, 'r52-nothing-checked-is-not-clean', 'empty-list.txt')
      const all = await store.run('verify', '--all')
      expect(all).toMatchObject({ exit: 1 })
      expect(all.out).toContain('0 checked')
      const listed = await store.runWith({ stdin: empty }, 'verify', '-')
      expect(listed.exit).toBe(1)
      expect(listed.out).toContain('0 checked')
      const report = json<{ ok: boolean; notMade: unknown[] }>(
        await store.run('verify', '--all', '--json'),
      )
      expect(report).toMatchObject({
        ok: false,
        checked: { entries: 0, blocks: 0, signatures: 0, artifacts: 0 },
      })
      expect(report.notMade.length).toBeGreaterThan(0)
      await expectRefused(store, ['verify', 'csag:typing-error'], { exit: 2 })
      await expectRefused(store, ['resume', 'csag:no-entries'], { exit: 2 })
    })
  })
}

/** A store that holds the worked bundle, its entry as decoded, and the CID of one of its artifacts. */
async function withEntry(given: Given): Promise<{
  readonly store: TestStore
  readonly cid: string
  readonly artifact: string
  readonly head: Loose & { readonly sig: Uint8Array }
}> {
  const store = await makeTestStore(await makeTempFolder())
  const put = await ok(store.run('put', workedBundle(given).envelope, '--shallow', '--json'))
  const { cid, artifacts } = json<{ cid: string; artifacts: { path: string; cid: string }[] }>(put)
  const { outBytes } = await ok(store.run('get', cid, '--entry'))
  const artifact = artifacts.find((one) => one.path === 'source_snapshot.md')!.cid
  return { store, cid, artifact, head: decodeBlock(outBytes) as Loose & { sig: Uint8Array } }
}

async function expectUnsafe(store: TestStore, loose: Loose): Promise<void> {
  const bytes = encodeBlock(loose)
  const cid = cidTextOf(bytes, 'dag-json')
  const stream = String(loose.payload['stream'])
  await withLevel(store.store, async (level) => {
    await level.put(`!blocks!${cid}`, bytes)
    await level.put(`!heads!${stream}`, Buffer.from(JSON.stringify([cid])))
  })
  for (const argv of [
    ['verify', cid],
    ['verify', '--all'],
    ['resume', cid],
    ['resume', stream],
  ]) {
    const { exit, out } = await store.run(...argv)
    expect({ argv, known: exit === 4 || exit === 5 }).toEqual({ argv, known: true })
    expect(out).toContain(cid)
    if (argv[0] === 'resume') expect(out).toContain('verdict: unsafe')
  }
}
