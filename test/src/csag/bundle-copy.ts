import fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HandoffEnvelope } from '../../../src/contracts/csag/document.ts'

const source = fileURLToPath(new URL('../../../fixtures/csag-cases/bundle', import.meta.url))

/** A copy of the worked bundle that may be written to; removed on disposal. */
export interface BundleCopy extends Disposable {
  readonly directory: string
  readonly envelope: string
}

export function copyBundle(): BundleCopy {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(tmpdir(), 'csag-')))
  const directory = path.join(root, 'bundle')
  fs.cpSync(source, directory, { recursive: true })
  return {
    directory,
    envelope: path.join(directory, 'handoff.json'),
    [Symbol.dispose]: () => fs.rmSync(root, { recursive: true, force: true }),
  }
}

/** Returns the worked envelope as a fresh value. */
export function readEnvelope(): HandoffEnvelope {
  return JSON.parse(fs.readFileSync(path.join(source, 'handoff.json'), 'utf8')) as HandoffEnvelope
}

/** Returns the bytes of a file of the worked bundle. */
export function readBundleFile(name: string): Uint8Array {
  return new Uint8Array(fs.readFileSync(path.join(source, name)))
}
