/** Changes keywords that providers refuse in the schema of a tool, and converts the call's arguments back. */
import { flat, partsOf } from '../tools/schemas/flat-schema.ts'
import { isSchema, mapSchemas, type Schema, withoutReferences } from '../tools/schemas/schema.ts'
import { tidied } from '../tools/schemas/tidy-schema.ts'
import type { RemoteProvider } from './provider.ts'

export interface ProviderSchema {
  schema: Schema
  /** Returns the arguments of a call in the names of the tool's own schema. Absent if none changed. */
  restore?(input: unknown): unknown
}

type Rule = (schema: Schema) => ProviderSchema

/** "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'": any other key fails the whole request. */
const anthropic: Rule = schema => withNames(object(tidied(schema)), /^[a-zA-Z0-9_.-]{1,64}$/)

/** Names begin with a letter or `_`. Google refuses circular references, and keywords beside references. */
const google: Rule = schema =>
  withNames(object(mapSchemas(withoutReferences(tidied(schema)), asGoogle)), /^[A-Za-z_]\w{0,63}$/)

const others: Rule = schema => ({ schema: object(tidied(schema)) })

/** Returns a model's rule. Compatible servers can forward requests to a provider; the name shows which. */
export function ruleFor(provider: RemoteProvider, modelId: string): Rule {
  if (provider === 'anthropic' || /claude/i.test(modelId)) return anthropic
  return provider === 'google' || /gemini/i.test(modelId) ? google : others
}

function object({ properties, ...schema }: Schema): Schema {
  return { ...schema, type: 'object', properties: isSchema(properties) ? properties : {} }
}

const googleKeywords = new Set([
  ...['type', 'format', 'title', 'description', 'enum', 'items', 'prefixItems', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'anyOf', 'properties', 'additionalProperties', 'required'],
])
const googleFormats = ['date-time', 'date', 'time']

function asGoogle(source: Schema): Schema {
  const whole = Array.isArray(source.allOf) ? merged(source) : source
  const { const: only, oneOf, format, ...rest } = whole
  const schema: Schema = {
    ...rest,
    ...('const' in whole ? { enum: [only] } : {}),
    ...(oneOf === undefined ? {} : { anyOf: oneOf }),
    ...(googleFormats.includes(String(format)) ? { format } : {}),
  }
  const { properties, required } = schema
  if (isSchema(properties)) schema.type ??= 'object'
  if (Array.isArray(required))
    schema.required = required.filter(name => isSchema(properties) && Object.hasOwn(properties, name))
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => googleKeywords.has(keyword)))
}

/** Merges the parts of an `allOf`: all properties of objects, all keywords of other values. */
function merged({ allOf, ...own }: Schema): Schema {
  const parts = [allOf].flat().filter(isSchema)
  const isObject = [own, ...parts].some(({ type, properties }) => type === 'object' || isSchema(properties))
  const { anyOf, oneOf } = own
  const choices = { ...(anyOf === undefined ? {} : { anyOf }), ...(oneOf === undefined ? {} : { oneOf }) }
  return isObject ? { ...flat({ ...own, allOf }), ...choices } : Object.assign({}, ...parts, own)
}

interface Names {
  /** The original names of properties, by their replacements. */
  own: ReadonlyMap<string, string>
  whole: Schema
}

/** Returns the schema with names of properties that a provider accepts; each changed name is unique. */
function withNames(schema: Schema, accepted: RegExp): ProviderSchema {
  const names = new Set<string>()
  mapSchemas(schema, one => {
    for (const name of Object.keys(isSchema(one.properties) ? one.properties : {})) names.add(name)
    return one
  })
  const newNames = new Map<string, string>()
  for (const name of names) if (!accepted.test(name)) newNames.set(name, freeName(name, names))
  if (newNames.size === 0) return { schema }
  const own = new Map([...newNames].map(([name, changed]) => [changed, name]))
  const whole = mapSchemas(schema, one => renamed(one, newNames))
  return { schema: whole, restore: input => restored(input, [whole], { own, whole }) }
}

function freeName(name: string, taken: Set<string>): string {
  const plain = `_${name.replaceAll(/\W+/g, '_')}`.replace(/^_+(?=[A-Za-z])/, '').slice(0, 58)
  const base = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? base : `${base}_${number}`
    if (taken.has(candidate)) continue
    taken.add(candidate)
    return candidate
  }
}

function renamed(schema: Schema, newNames: ReadonlyMap<string, string>): Schema {
  const { properties, required } = schema
  if (!isSchema(properties)) return schema
  const entries = Object.entries(properties).map(([name, property]) => {
    const changed = newNames.get(name)
    return changed === undefined ? [name, property] : [changed, describedAs(property, name)]
  })
  const changedNames = Array.isArray(required) && required.map(name => newNames.get(name) ?? name)
  return {
    ...schema,
    properties: Object.fromEntries(entries),
    ...(changedNames ? { required: changedNames } : {}),
  }
}

function describedAs(property: unknown, name: string): unknown {
  if (!isSchema(property)) return property
  return { ...property, description: `${property.description ?? ''} Sent as ${JSON.stringify(name)}.`.trim() }
}

/** Restores names by value and schema: in an object without fixed names, a name can be the caller's. */
function restored(value: unknown, schemas: readonly unknown[], names: Names): unknown {
  const parts = schemas
    .filter(isSchema)
    .flatMap(schema => partsOf({ schema, isAlternative: false }, names.whole).map(part => part.schema))
  const inner = (item: unknown, of: (part: Schema) => unknown) => restored(item, parts.flatMap(of), names)
  if (Array.isArray(value))
    return value.map(item => inner(item, ({ items, prefixItems }) => [items, prefixItems].flat()))
  if (!isSchema(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => {
      const fixed = ({ properties }: Schema) =>
        isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
      return parts.some(part => fixed(part) !== undefined)
        ? [names.own.get(name) ?? name, inner(item, fixed)]
        : [name, inner(item, part => part.additionalProperties)]
    }),
  )
}
