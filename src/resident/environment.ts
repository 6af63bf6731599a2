/** All that the verbs which are asked for read of the environment. */
export const passedNames = [
  'HOME',
  'HSTORE_AGENT',
  'HSTORE_KEYS',
  'HSTORE_STORE',
  'USERPROFILE',
  'XDG_DATA_HOME',
] as const
