// Writes the validators of the two root classes ahead of time: `node compile.js [--out DIR]`, DIR for a second copy.
// Plain JavaScript, since it runs before there is a build. What it writes imports nothing.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2020, _ } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'

/**
 * @typedef {{ type?: string, ref?: string, enum?: string, array?: boolean, nullable?: boolean, format?: string,
 *   pattern?: string, minItems?: number, minimum?: number, maximum?: number }} Fact
 * @typedef {{ required: string[], properties: Record<string, Fact> }} ClassFacts
 * @typedef {{ classes: Record<string, ClassFacts>, enums: Record<string, string[]> }} Facts
 * @typedef {Record<string, unknown>} Schema
 */

const here = path.dirname(fileURLToPath(import.meta.url))

/** @type {Facts} */
const facts = JSON.parse(fs.readFileSync(path.join(here, 'classes.json'), 'utf8'))

/**
 * Upstream's patterns as JavaScript has to spell them: there a dot excludes the line feed only. The end is the end of
 * the text, where upstream also takes the place before a last line feed.
 *
 * @type {Record<string, string>}
 */
const patterns = {
  '^1\\.0\\.0$': '^1\\.0\\.0$',
  '^[0-9a-f]{64}$': '^[0-9a-f]{64}$',
  '^.+#sha256=[0-9a-f]{64}$': '^[^\\n]+#sha256=[0-9a-f]{64}$',
}

/** @type {Record<string, string>} */
const formats = { date: 'calendarDate', 'date-time': 'offsetDateTime' }

/** Goes into each validator as text. Checks RFC 3339 dates: real days, no year 0, no leap second, an offset. */
const prelude = `
const MAX_ERRORS = 10000
const DATE = /^(\\d{4})-(\\d\\d)-(\\d\\d)$/
const TIME = /^T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)$/i
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
function isDate(text) {
  const parts = DATE.exec(text)
  if (parts === null) return false
  const year = Number(parts[1])
  const month = Number(parts[2])
  const day = Number(parts[3])
  if (year === 0 || month < 1 || month > 12 || day < 1) return false
  if (month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)) return day <= 29
  return day <= DAYS[month - 1]
}
function isDateTime(text) {
  return TIME.test(text.slice(10)) && isDate(text.slice(0, 10))
}
function isFull(list) {
  return list !== null && list.length >= MAX_ERRORS
}
function push(list, error) {
  if (list.length < MAX_ERRORS) list.push(error)
}
function join(list, more) {
  if (list === null) return more
  for (const error of more) push(list, error)
  return list
}
`

/** @param {Fact} fact @returns {Schema} the schema of one item or value */
function itemSchema(fact) {
  if (fact.ref !== undefined) return { $ref: `#/$defs/${fact.ref}` }
  if (fact.enum !== undefined) return { $ref: `#/$defs/${fact.enum}` }
  return { type: fact.type }
}

/** @param {Fact} fact @returns {Schema} */
function propertySchema(fact) {
  const item = itemSchema(fact)
  const orNull = fact.nullable ? ['null'] : []
  if (fact.array) {
    const least = fact.minItems === undefined ? {} : { minItems: fact.minItems }
    return { type: ['array', ...orNull], items: item, ...least }
  }
  if (fact.enum !== undefined) return item
  if (fact.ref !== undefined) return fact.nullable ? { anyOf: [item, { type: 'null' }] } : item
  /** @type {Schema} */
  const schema = { type: [item['type'], ...orNull] }
  if (fact.type === 'integer') schema['finite'] = true
  if (fact.minimum !== undefined) schema['minimum'] = fact.minimum
  if (fact.maximum !== undefined) schema['maximum'] = fact.maximum
  if (fact.pattern !== undefined) schema['pattern'] = known(patterns, fact.pattern)
  if (fact.format !== undefined) schema[known(formats, fact.format)] = true
  return schema
}

/** @param {Record<string, string>} table @param {string} key @returns {string} */
function known(table, key) {
  const value = table[key]
  if (value === undefined) throw new Error(`classes.json: ${JSON.stringify(key)} is not known here`)
  return value
}

/** @param {string} name @param {Record<string, Schema>} defs collects the classes and enumerations that `name` needs */
function define(name, defs) {
  if (defs[name] !== undefined) return
  const values = facts.enums[name]
  if (values !== undefined) {
    defs[name] = { enum: values, type: 'string' }
    return
  }
  const { required, properties } = /** @type {ClassFacts} */ (facts.classes[name])
  /** @type {Record<string, Schema>} */
  const members = {}
  defs[name] = { type: 'object', required, properties: members, additionalProperties: false }
  for (const [key, fact] of Object.entries(properties)) {
    members[key] = propertySchema(fact)
    const next = fact.ref ?? fact.enum
    if (next !== undefined) define(next, defs)
  }
}

function makeAjv() {
  const ajv = new Ajv2020({
    allErrors: true,
    allowUnionTypes: true,
    messages: false,
    // An infinite number is a number upstream, though never an integer.
    strictNumbers: false,
    code: { source: true, esm: true, lines: true },
  })
  ajv.addKeyword({
    keyword: 'finite',
    type: 'number',
    schemaType: 'boolean',
    code: (cxt) => cxt.fail(_`!Number.isFinite(${cxt.data})`),
  })
  ajv.addKeyword({
    keyword: 'calendarDate',
    type: 'string',
    schemaType: 'boolean',
    code: (cxt) => cxt.fail(_`!isDate(${cxt.data})`),
  })
  ajv.addKeyword({
    keyword: 'offsetDateTime',
    type: 'string',
    schemaType: 'boolean',
    code: (cxt) => cxt.fail(_`!isDateTime(${cxt.data})`),
  })
  return ajv
}

/**
 * Returns the code with its lists of errors bounded, and grown in place: as generated, each faulty item of a list
 * copies all errors before it. Once it is full no more items are looked at: a list with items is never null, so no
 * other branch of an anyOf can take its errors back.
 *
 * @param {string} code
 */
function bounded(code) {
  const result = code
    .replaceAll(
      /vErrors === null \? (\w+)\.errors : vErrors\.concat\(\1\.errors\)/g,
      'join(vErrors, $1.errors)',
    )
    .replaceAll(/vErrors\.push\((\w+)\)/g, 'push(vErrors, $1)')
    .replaceAll(
      /for\(let (i\d+)=0; \1<(len\d+); \1\+\+\)/g,
      'for(let $1=0; $1<$2 && !isFull(vErrors); $1++)',
    )
  if (/\.concat\(|vErrors\.push|require\(|\bimport\b/.test(result)) {
    throw new Error('the generated code is not of the form that is known here')
  }
  return result
}

/** @param {string} root the class of the document */
function compile(root) {
  /** @type {Record<string, Schema>} */
  const $defs = {}
  define(root, $defs)
  const ajv = makeAjv()
  const code = standalone.default(ajv, ajv.compile({ $ref: `#/$defs/${root}`, $defs }))
  return `// Written by compile.js from classes.json. Do not edit.\n${prelude}${bounded(code)}`
}

const types = `// Written by compile.js. Do not edit.
export interface SchemaError {
  readonly instancePath: string
  readonly keyword: string
  readonly params: Readonly<Record<string, unknown>>
}
export declare const validate: {
  (value: unknown): boolean
  errors?: (SchemaError | undefined)[] | null
}
`

/** @param {string} directory @param {string} name @param {string} text */
function write(directory, name, text) {
  fs.mkdirSync(directory, { recursive: true })
  const temporary = path.join(directory, `.${name}.${process.pid}`)
  fs.writeFileSync(temporary, text)
  fs.renameSync(temporary, path.join(directory, name))
}

const outAt = process.argv.indexOf('--out')
const out = outAt < 0 ? undefined : process.argv[outAt + 1]
if (outAt >= 0 && out === undefined) throw new Error('usage: node compile.js [--out DIR]')
for (const [name, root] of [
  ['handoff', 'HandoffEnvelope'],
  ['paper', 'PaperExtraction'],
]) {
  const code = compile(/** @type {string} */ (root))
  write(path.join(here, 'generated'), `${name}.js`, code)
  write(path.join(here, 'generated'), `${name}.d.ts`, types)
  if (out !== undefined) write(path.resolve(out), `${name}.js`, code)
}
