import type { VerbSpec } from './verb-spec.ts'

/** The agent that a verb is about. */
export const agent = ['<agent>', 'the agent, as the roster knows it'] as const

/** For a new key file without a passphrase. */
export const noPassphrase = [
  '--no-passphrase',
  'leave the key file unencrypted, for unattended agents',
] as const

/** `hstore key` and the verbs within it. */
export const keyVerb: VerbSpec = {
  name: 'key',
  group: 'Set up',
  summary: "Manage this machine's keys, one for each agent",
  more: [
    'Key files have mode 0600 and are refused when others can read them. hstore key new prints the did:key that a root adds with hstore roster add.',
  ],
  example: 'hstore key new csag:agent/agent-a',
  verbs: [
    {
      name: 'new',
      summary: 'Make a key for an agent',
      example: 'hstore key new csag:agent/agent-a --no-passphrase',
      args: [agent],
      options: [noPassphrase],
      load: async () => (await import('./verbs/key.ts')).keyNew,
    },
    {
      name: 'list',
      summary: 'List the keys',
      example: 'hstore key list',
      load: async () => (await import('./verbs/key.ts')).keyList,
    },
    {
      name: 'show',
      summary: "Show an agent's key",
      example: 'hstore key show csag:agent/agent-a',
      args: [agent],
      load: async () => (await import('./verbs/key.ts')).keyShow,
    },
    {
      name: 'import',
      summary: 'Take over a private key, or one that ssh-agent keeps',
      more: [
        "The file is OpenSSH's, PKCS#8 in PEM, or a JSON Web Key with d. The passphrase that opens it protects the key here too, unless --no-passphrase is given.",
        'With --ssh-agent, the file is the public key, one line as OpenSSH writes it: ssh-agent (SSH_AUTH_SOCK) makes every signature, and hstore never reads the private key. Its level is agent.',
      ],
      example: 'hstore key import csag:agent/agent-a ~/.ssh/id_ed25519',
      args: [agent, ['<file>', 'the private key, with --ssh-agent the public one, or - for stdin']],
      options: [noPassphrase, ['--ssh-agent', 'leave the private key with ssh-agent, which signs']],
      load: async () => (await import('./verbs/key.ts')).keyImport,
    },
    {
      name: 'export',
      summary: 'Print a key',
      more: [
        'Without --secret, the public key. With it, the private one without a passphrase, in the same form: OpenSSH, PKCS#8 in PEM, or a JSON Web Key.',
      ],
      example: 'hstore key export csag:agent/agent-a > agent-a.pub',
      args: [agent],
      options: [
        [
          '--format <format>',
          'openssh (unless said), pem, jwk or did',
          ['openssh', 'pem', 'jwk', 'did'],
        ],
        ['--secret', 'print the private key, unencrypted'],
      ],
      load: async () => (await import('./verbs/key.ts')).keyExport,
    },
    {
      name: 'signers',
      summary: "Print the roster's keys as an allowed_signers file",
      more: [
        'For ssh-keygen -Y verify and git. Keys whose grants are all closed, and frozen ones, are left out. It is a copy: print it again when the roster has changed.',
      ],
      example: 'hstore key signers > allowed_signers',
      load: async () => (await import('./verbs/key-ssh.ts')).keySigners,
    },
    {
      name: 'verify',
      summary: "Check a file's SSH signature by the roster",
      more: [
        'The signature is as ssh-keygen -Y sign makes it. With --allowed-signers that file says who may sign, and no store is needed; its dates can refuse and never allow.',
        'Ends with 0, 4 when the key may not sign as the principal, 5 when the signature does not stand.',
      ],
      example: 'hstore key verify notes.md notes.md.sig csag:agent/agent-a',
      args: [
        ['<file>', 'what was signed, or - for stdin'],
        ['<signature>', 'the signature, or - for stdin'],
        ['<principal>', 'who is said to have signed'],
      ],
      options: [
        ['--namespace <namespace>', 'what the signature is for; file unless said'],
        ['--allowed-signers <file>', 'who may sign, instead of the roster'],
      ],
      load: async () => (await import('./verbs/key-ssh.ts')).keyVerify,
    },
  ],
}
