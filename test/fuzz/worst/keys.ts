import { formatPem } from '../../../keys/pem.ts'
import { sshString, sshUint32 } from '../../../keys/ssh-wire.ts'
import { der, derInteger, TAG } from '../../../keys/der.ts'
import { bytesOfText } from '../target.ts'

const oid = (hex: string): Uint8Array => der(TAG.oid, Buffer.from(hex, 'hex'))

/** PBES2 with PBKDF2 of so many rounds. */
export function lockedPkcs8(rounds: number): Uint8Array {
  const hash = der(TAG.sequence, oid('2a864886f70d0209'), der(TAG.null))
  const stretch = der(TAG.sequence, der(TAG.octets, new Uint8Array(16)), derInteger(rounds), hash)
  const cipher = der(TAG.sequence, oid('60864801650304012a'), der(TAG.octets, new Uint8Array(16)))
  const scheme = der(TAG.sequence, der(TAG.sequence, oid('2a864886f70d01050c'), stretch), cipher)
  const algorithm = der(TAG.sequence, oid('2a864886f70d01050d'), scheme)
  return bytesOfText(
    formatPem(
      'ENCRYPTED PRIVATE KEY',
      der(TAG.sequence, algorithm, der(TAG.octets, new Uint8Array(48))),
    ),
  )
}

/** An OpenSSH key under bcrypt of so many rounds. */
function lockedOpenSSH(rounds: number): Uint8Array {
  const options = Buffer.concat([sshString(new Uint8Array(16)), sshUint32(rounds)])
  const half = Buffer.concat([sshString('ssh-ed25519'), sshString(new Uint8Array(32))])
  const parts = [sshString('aes256-ctr'), sshString('bcrypt'), sshString(options), sshUint32(1)]
  const body = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...parts,
    sshString(half),
    sshString(new Uint8Array(160)),
  ])
  return bytesOfText(formatPem('OPENSSH PRIVATE KEY', body))
}

const text = (make: () => string) => (): Uint8Array => bytesOfText(make())
const begin = '-----BEGIN PRIVATE KEY-----\n'

/** Key files that cost their reader most; what 128 rounds of bcrypt cost is the user's wish, who gives a passphrase. */
export const keyFiles: readonly (readonly [string, 'key' | 'public-key', () => Uint8Array])[] = [
  ['2,000,000 rounds of PBKDF2', 'key', () => lockedPkcs8(2_000_000)],
  ['2^31 − 1 rounds of PBKDF2', 'key', () => lockedPkcs8(0x7fff_ffff)],
  ['24 rounds of bcrypt', 'key', () => lockedOpenSSH(24)],
  ['129 rounds of bcrypt', 'key', () => lockedOpenSSH(129)],
  ['2^32 − 1 rounds of bcrypt', 'key', () => lockedOpenSSH(0xffff_ffff)],
  ['empty lines', 'key', text(() => `${begin}${'\n'.repeat(60_000)}`)],
  ['2 MiB of lines', 'key', text(() => `${begin}${'A\n'.repeat(1_000_000)}`)],
  ['line ends', 'public-key', text(() => `ssh-ed25519 ${'\r\n'.repeat(1_000_000)}x`)],
  ['2 MiB of base64', 'public-key', text(() => `ssh-ed25519 ${'A'.repeat(2_000_000)} `)],
  ['a comment of 2 MiB', 'public-key', text(() => `ssh-ed25519 AAAA ${'é'.repeat(1_000_000)}`)],
]
