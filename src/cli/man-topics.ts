/** What the man pages say beside the verbs. */
type Topic = readonly (readonly [term: string, meaning: string])[]

/** The exit codes, as docs/cli.md has them. */
export const exitMeanings: Topic = [
  ['0', 'yes'],
  ['1', 'no, or findings'],
  ['2', "usage, or input that can't be read"],
  ['3', 'pending'],
  ['4', 'a key or trust is needed'],
  ['5', 'verification failed, or the store is damaged'],
  ['6', 'conflict: heads moved, revision taken, equivocation'],
  ['7', 'unread predecessor'],
  ['8', "the store can't be used now: busy, full, read-only"],
  ['9', 'remote, or made by a newer hstore'],
]

/** Every variable that the command line reads. */
export const environment: Topic = [
  ['HSTORE_STORE', 'the store, where --store is not given'],
  ['HSTORE_KEYS', 'the folder of keys, where --keys is not given'],
  ['HSTORE_AGENT', 'who acts, where --as is not given'],
  ['HSTORE_PASSPHRASE', 'the passphrase, where --passphrase-file is not given'],
  ['SSH_AUTH_SOCK', 'the socket of ssh-agent, for keys that it keeps'],
  ['NO_COLOR', 'set to anything, no colours on a terminal'],
  ['TERM', 'dumb: no colours'],
  [
    'HSTORE_SSH',
    "the command that ssh:// addresses are reached with; the system's ssh where not set",
  ],
  ['HSTORE_PAGER', 'what long output on a terminal is shown with; empty for nothing'],
  ['PAGER', 'the pager, where HSTORE_PAGER is not set; else less'],
  ['LESS', 'the options of less; FRX where not set'],
  ['XDG_DATA_HOME', 'the folder of data, under which hstore/keys holds the keys'],
  ['HOME', 'the home folder, in which .local/share stands for XDG_DATA_HOME'],
  ['USERPROFILE', 'the home folder, where HOME is not set'],
]

/** Where things lie. */
export const files: Topic = [
  ['.hstore', 'the store, in the working directory or the nearest one upward that has it'],
  [
    '~/.local/share/hstore/keys',
    'private keys of mode 0600, named after their agents, with their public halves; beside them what this user trusts',
  ],
]

/** What a REF is. */
export const refText =
  'A REF is a CID (of an entry, of an artifact, or of a body that one node carries), a stream (its one head; the family may be left out where the rest is unique), or a revision that one node has. Where a file or REFs are asked for, - stands for standard input.'

/** What output is. */
export const outputText =
  'Data goes to standard output, talk to standard error. Errors are one line: what, where, what to do; with --json one object with a stable code.'
