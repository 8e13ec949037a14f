import { valueAt } from '#platform/json-pointer.ts'
import type { ToolParameters } from '../tool.ts'
import { isSchema, type Schema, withoutReferences } from './schema.ts'

interface Part {
  schema: Schema
  /** True if the part might not apply. */
  isAlternative: boolean
}

/** Keywords that split a schema, or forbid whole values: model services refuse them at the top level. */
const dividing = new Set([
  ...['$ref', 'anyOf', 'oneOf', 'allOf', 'if', 'then', 'else', 'dependentSchemas', 'not', 'enum', 'const'],
])

/** Returns the parameters without references and alternatives at the top: they have all parts' properties. */
export function flatParameters(parameters: ToolParameters): ToolParameters {
  const isFlat = Object.keys(parameters).every(keyword => !dividing.has(keyword))
  return isFlat ? parameters : flat(withoutReferences(parameters))
}

/** Returns the parts of an object's schema as one; outer keywords win, and all requirements are joined. */
export function flat(schema: Schema): ToolParameters {
  const all = partsOf({ schema, isAlternative: false })
  const firm = all.filter(({ isAlternative }) => !isAlternative).map(part => part.schema)
  const required = [...new Set(firm.flatMap(part => (Array.isArray(part.required) ? part.required : [])))]
  const merged: Schema = Object.assign({}, ...firm.toReversed())
  const rest = Object.entries(merged).filter(([keyword]) => !dividing.has(keyword) && keyword !== 'required')
  return {
    ...Object.fromEntries(rest),
    type: 'object',
    properties: propertiesOf(all),
    ...(required.length === 0 ? {} : { required }),
  }
}

const maxNested = 8

/** Returns a schema, and those beside it or in its place; references are followed within `whole`. */
export function partsOf(part: Part, whole?: Schema, levels = maxNested): Part[] {
  if (levels < 0) return []
  const { $ref, anyOf, oneOf, allOf, then, else: otherwise, dependentSchemas } = part.schema
  const target = typeof $ref === 'string' && whole ? valueAt(whole, $ref.slice(1)) : undefined
  const choices: unknown[][] = [anyOf, oneOf].filter(Array.isArray)
  const dependent = isSchema(dependentSchemas) ? Object.values(dependentSchemas) : []
  const alternatives = [...choices.filter(({ length }) => length > 1).flat(), then, otherwise, ...dependent]
  const firm = [...choices.filter(({ length }) => length === 1).flat(), allOf, target].flat()
  const inner = [
    ...firm.filter(isSchema).map(schema => ({ schema, isAlternative: part.isAlternative })),
    ...alternatives.filter(isSchema).map(schema => ({ schema, isAlternative: true })),
  ]
  return [part, ...inner.flatMap(one => partsOf(one, whole, levels - 1))]
}

interface Said {
  firm: unknown[]
  /** The alternatives by their text, so that each is listed once. */
  others: Map<string, unknown>
}

/** Merges each property: the firm parts, the outer ones first; without those, all alternatives. */
function propertiesOf(all: readonly Part[]): Schema {
  const said = new Map<string, Said>()
  for (const { schema, isAlternative } of all) {
    if (!isSchema(schema.properties)) continue
    for (const [name, property] of Object.entries(schema.properties)) {
      const known: Said = said.get(name) ?? { firm: [], others: new Map() }
      said.set(name, known)
      if (isAlternative) known.others.set(JSON.stringify(property), property)
      else known.firm.push(property)
    }
  }
  const entries = [...said].map(([name, { firm, others }]) => {
    if (firm.length > 0)
      return [name, firm.every(isSchema) ? Object.assign({}, ...firm.toReversed()) : firm[0]]
    const different = [...others.values()]
    return [name, different.length === 1 ? different[0] : { anyOf: different }]
  })
  return Object.fromEntries(entries)
}
