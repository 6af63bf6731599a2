declare module 'bcrypt-pbkdf' {
  /** Fills `key` with `keyLength` bytes; gives -1, and fills nothing, when a length or `rounds` is 0. */
  export function pbkdf(
    passphrase: Uint8Array,
    passphraseLength: number,
    salt: Uint8Array,
    saltLength: number,
    key: Uint8Array,
    keyLength: number,
    rounds: number,
  ): 0 | -1
}
