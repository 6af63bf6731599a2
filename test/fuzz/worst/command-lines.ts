import { bytesOfText } from '../target.ts'
import type { Shape } from './shapes.ts'

const words = (name: string, make: () => string[]): Shape => [
  name,
  () => bytesOfText(make().join('\0')),
]

/** Command lines as long as a system takes them. */
export const commandLines: readonly Shape[] = [
  words('a verb of 2 MiB', () => ['x'.repeat(2_000_000)]),
  words('an option of 2 MiB', () => ['verify', `--${'x'.repeat(2_000_000)}`]),
  words('a REF of 2 MiB', () => ['get', 'b'.repeat(2_000_000), '--store', '/nonexistent']),
  words('controls', () => ['get', '\u001b'.repeat(1_000_000)]),
  words('200,000 words', () => ['verify', ...Array.from({ length: 200_000 }, () => 'x')]),
  words('200,000 options', () => ['verify', ...Array.from({ length: 200_000 }, () => '--json')]),
]
