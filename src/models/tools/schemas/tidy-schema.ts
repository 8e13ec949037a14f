import { isExactNumber } from '#platform/exact-json.ts'
import { isSchema, mapSchemas, mapValues, type Schema } from './schema.ts'

type Test = (value: unknown) => boolean

const isText: Test = value => typeof value === 'string'
const isFlag: Test = value => typeof value === 'boolean'
const isNumber: Test = value => Number.isFinite(value) || isExactNumber(value)
const isCount: Test = value => Number.isSafeInteger(value) && Number(value) >= 0
const isSchemaOrFlag: Test = value => isSchema(value) || isFlag(value)
const isItems: Test = value => isSchemaOrFlag(value) || isFilledList(value)
const isFilledList: Test = value => Array.isArray(value) && value.length > 0

/** Tests of the keywords' values: a provider refuses the whole request for one other value in one tool. */
const valid = new Map<string, Test>([
  ...of(isText, 'description', 'title', 'pattern', 'format', '$ref', 'contentMediaType', 'contentEncoding'),
  ...of(isFlag, 'uniqueItems', 'deprecated', 'readOnly', 'writeOnly'),
  ...of(isNumber, 'minimum', 'maximum', 'multipleOf', 'exclusiveMinimum', 'exclusiveMaximum'),
  ...of(isCount, 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'),
  ...of(isSchema, 'properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'),
  ...of(isSchemaOrFlag, 'additionalProperties', 'not', 'if', 'then', 'else', 'contains'),
  ...of(isFilledList, 'anyOf', 'oneOf', 'allOf', 'prefixItems', 'enum'),
  ...of(Array.isArray, 'required', 'examples'),
  ['items', isItems],
])

/** Keywords that do not restrict a value; some providers do not know them. */
const leftOut = new Set(['$schema', '$id', 'id', '$anchor', '$comment', '$vocabulary', 'nullable'])

const types = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])
const otherNames = new Map([
  ...[...of('integer', 'int', 'long', 'int32', 'int64'), ...of('number', 'float', 'double', 'decimal')],
  ...[...of('boolean', 'bool'), ...of('string', 'str', 'text'), ...of('object', 'dict', 'map')],
  ...[...of('array', 'list', 'tuple'), ...of('null', 'none')],
])

/** Formats of the standard; providers refuse others. */
const formats = new Set([
  ...['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'],
])

function of<Value>(value: Value, ...names: string[]): [string, Value][] {
  return names.map(name => [name, value])
}

/** Returns the schema in draft 2020-12: invalid keywords are left out, older spellings are replaced. */
export function tidied(schema: Schema): Schema {
  return mapSchemas(schema, tidy)
}

function tidy(source: Schema): Schema {
  const { type, ...rest } = Object.fromEntries(
    Object.entries(source).filter(
      ([name, value]) => !leftOut.has(name) && valid.get(name)?.(value) !== false,
    ),
  )
  const schema: Schema = { ...typesOf(type), ...withKnownFormat(lists(rest)) }
  if ([schema.type].flat().includes('array') && !('prefixItems' in schema)) schema.items ??= {}
  return source.nullable === true ? { anyOf: [schema, { type: 'null' }] } : schema
}

function typesOf(type: unknown): { type?: string | string[] } {
  const names = [type]
    .flat()
    .map(name => String(name).toLowerCase())
    .map(name => otherNames.get(name) ?? name)
  const known = [...new Set(names)].filter(name => types.has(name))
  const [first] = known
  return first === undefined ? {} : { type: known.length === 1 ? first : known }
}

const combining = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])

/** Cleans the keywords that hold lists and maps, whose entries can be invalid as well. */
function lists(schema: Schema): Schema {
  return mapValues(schema, (value, keyword) => {
    if (keyword === 'required' && Array.isArray(value)) return [...new Set(value.filter(isText))]
    if (keyword === 'properties' && isSchema(value)) return described(value)
    // A list of positional items, before draft 2020-12.
    if (keyword === 'items' && Array.isArray(value)) return { anyOf: value.map(orAnything) }
    return combining.has(keyword) && Array.isArray(value) ? value.map(orAnything) : value
  })
}

/** Removes forbidden properties, which need no description. */
function described(properties: Schema): Schema {
  const entries = Object.entries(properties).filter(([, schema]) => schema !== false)
  return Object.fromEntries(entries.map(([name, schema]) => [name, orAnything(schema)]))
}

function orAnything(schema: unknown): Schema {
  return isSchema(schema) ? schema : {}
}

function withKnownFormat(schema: Schema): Schema {
  const { format, ...rest } = schema
  if (typeof format !== 'string' || formats.has(format)) return schema
  return { ...rest, description: `${rest.description ?? ''} Format: ${format}.`.trim() }
}
