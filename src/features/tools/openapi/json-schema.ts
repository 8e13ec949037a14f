/**
 * The subset of JSON Schema that arguments are described with: every dialect, validator and model service reads it the
 * same way.
 */
export interface JsonSchema {
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema
  anyOf?: JsonSchema[]
  allOf?: JsonSchema[]
  pattern?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  minProperties?: number
  maxProperties?: number
}

/** The parts of a schema to keep; fitting tries smaller and smaller values. */
export interface Detail {
  depth: number
  descriptionCharacters: number
  enumValues: number
}

/** A description followed by a note, both optional. */
export function described(
  description: string | undefined,
  ...notes: (string | undefined)[]
): { description?: string } {
  const text = [description, ...notes].filter(part => part !== undefined && part !== '').join(' ')
  return text === '' ? {} : { description: text }
}

export function isEmptySchema(schema: JsonSchema): boolean {
  return Object.keys(schema).length === 0
}
