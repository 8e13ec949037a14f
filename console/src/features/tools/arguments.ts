import type { JsonSchema } from '#console/ui/schema.ts'

/** Max depth of nested objects in the form; deeper ones are written as JSON. */
const maxDepth = 3
const maxDescription = 300
const longText = 300

type Foreign = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Foreign =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Converts the schema of a tool's arguments to one that a form can show. Foreign schemas are not trusted:
 * only values of the right type are used. The service checks the rules, so that a form can test its refusals.
 */
export function formOf(parameters: unknown): JsonSchema {
  const shown = objectOf(isObject(parameters) ? parameters : {}, true, 0)
  if (Object.keys(shown.properties ?? {}).length > 0) return shown
  return { properties: { arguments: { title: 'JSON', type: 'object', examples: ['{}'] } } }
}

/** Converts the form's values to the arguments. */
export function argumentsOf(parameters: unknown, values: Foreign): Record<string, unknown> {
  const hasFields =
    isObject(parameters) && isObject(parameters.properties) && Object.keys(parameters.properties).length > 0
  return hasFields ? values : isObject(values.arguments) ? values.arguments : {}
}

function objectOf(schema: Foreign, isRequired: boolean, depth: number): JsonSchema {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [
        name,
        fieldOf(property, { name, isRequired: required.includes(name), depth }),
      ]),
    ),
    // The service checks required members of an optional object, once one member is set.
    ...(isRequired && { required }),
  }
}

function fieldOf(
  property: unknown,
  { name, isRequired, depth }: { name: string; isRequired: boolean; depth: number },
): JsonSchema {
  const schema = isObject(property) ? property : {}
  const types = [schema.type].flat().filter(type => typeof type === 'string')
  const type = types.filter(one => one !== 'null').length === 1 ? types : []
  const about = {
    title: name,
    ...(typeof schema.description === 'string' && {
      description: schema.description.slice(0, maxDescription),
    }),
    ...(schema.default !== undefined && { default: schema.default }),
  }
  if (Array.isArray(schema.enum)) return { ...about, enum: schema.enum }
  // A checkbox has no third state for an omitted argument.
  if (type.includes('boolean')) return { ...about, enum: [true, false] }
  if (type.includes('object') && isObject(schema.properties) && depth < maxDepth)
    return { ...objectOf(schema, isRequired, depth + 1), ...about }
  if (type.includes('array'))
    return { ...about, type: 'array', ...(isTexts(schema) && { items: { type: 'string' } }) }
  const isLong = schema.format === 'multiline' || Number(schema.maxLength ?? 0) > longText
  if (type.includes('string')) return { ...about, type: 'string', ...(isLong && { format: 'multiline' }) }
  return { ...about, ...(type.length > 0 && !type.includes('object') && { type }) }
}

/** True if a list, including its default, contains only texts: it is edited by lines. */
function isTexts({ items, default: given }: Foreign): boolean {
  const isTextual = isObject(items) && items.type === 'string' && items.enum === undefined
  return (
    isTextual &&
    (given === undefined || (Array.isArray(given) && given.every(one => typeof one === 'string')))
  )
}
