/** Literals that have no place in most documents, each JSON in itself. */
export const oddLiterals: readonly string[] = [
  'null',
  '-0',
  '0.5',
  '1e3',
  '1e400',
  '9007199254740993',
  'true',
  '[]',
  '{}',
  '[[[[]]]]',
  '""',
  String.raw`"\u0000"`,
  String.raw`"\ud800"`,
  String.raw`"\u202e"`,
  '"csag:agent/agent-b"',
  '{"/":"bafy"}',
  '{"/":{"bytes":"AA"}}',
  '{"__proto__":1}',
  '"../../etc/passwd"',
  '"file:///etc/passwd"',
  '"x#sha256=0"',
  '"data:,x"',
  '"//host/x"',
  `"${'x'.repeat(70_000)}"`,
  '["a","a"]',
  '"%zz"',
  '"a%00b"',
]

const texts =
  'x ../x ~ file:x notes.md //[ env/lock.txt#sha256= 2026-03-01T10:00:00Z completed open ready ' +
  'paper_extraction validation_report ice:handoff/drift/R2'

/** Values that have no place in most documents. */
export const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 60,
  '',
  '\ud800',
  [],
  [[]],
  {},
  { id: 'constructor' },
  ...texts.split(' '),
]

/** Keys that look-ups without care find on every object, and that forms of links and bytes use. */
export const oddKeys: readonly string[] = [
  '__proto__',
  'constructor',
  '/',
  '',
  'id',
  'toString',
  'bytes',
]
