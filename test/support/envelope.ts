import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** An envelope that keeps all rules and is as small as they allow: its paper is remote. */
export interface SmallEnvelope {
  readonly workspace: string
  readonly revision: string
  readonly author: string
  readonly parents?: readonly string[]
  /** Files beside it, by their path in the bundle. */
  readonly files?: Readonly<Record<string, Uint8Array | string>>
  /** Makes two documents of one revision differ. */
  readonly note?: string
}

/** Returns the lower-case hexadecimal SHA-256 of bytes or of a text. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Returns a CSAG envelope as a value. */
export function envelopeOf(small: SmallEnvelope): Record<string, unknown> {
  const { workspace, revision, author, parents = [], files = {}, note } = small
  const created = { created_on: '2026-03-14T09:00:00Z', created_by: author }
  const local = Object.entries(files).map(([file, bytes], i) => ({
    id: `${workspace}/artifact/F${i}`,
    artifact_role: 'dataset',
    artifact_path: file,
    sha256: sha256(bytes),
    byte_size: Buffer.byteLength(bytes),
  }))
  return {
    id: workspace,
    envelope_version: '1.0.0',
    revision: `${workspace}/revision/${revision}`,
    parents: parents.map((name) => `${workspace}/revision/${name}`),
    source_artifacts: [
      {
        id: `${workspace}/artifact/PAPER`,
        artifact_role: 'paper_extraction',
        artifact_path: 'https://example.org/paper.json',
        sha256: '0'.repeat(64),
      },
      ...local,
    ],
    assessments:
      note === undefined
        ? []
        : [
            {
              id: `${workspace}/assessment/N`,
              assessment_status: 'open',
              assessment_text: note,
              basis_artifacts: [`${workspace}/artifact/PAPER`],
              ...created,
            },
          ],
    current_heads: [`${workspace}/revision/${revision}`],
    ...created,
  }
}

/** Writes an envelope and its files into a folder and returns the envelope's path. */
export async function writeEnvelope(folder: string, small: SmallEnvelope): Promise<string> {
  for (const [name, bytes] of Object.entries(small.files ?? {})) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
    await writeFile(path.join(folder, name), bytes)
  }
  const file = path.join(folder, `${small.revision}.json`)
  await mkdir(folder, { recursive: true })
  await writeFile(file, JSON.stringify(envelopeOf(small), null, 2))
  return file
}

/** Returns bytes that are the same for the same seed, without a pattern that compresses. */
export function bytesOf(seed: string, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  for (let at = 0, i = 0; at < size; i++) {
    const digest = createHash('sha256').update(`${seed} ${i}`).digest()
    bytes.set(digest.subarray(0, Math.min(32, size - at)), at)
    at += 32
  }
  return bytes
}

/** Returns numbers from 0 up to 1 that are the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
