import { Ajv, type ValidateFunction } from 'ajv'
import { withDoubles } from '#platform/exact-json.ts'
import { ofOwnSchemas } from '#platform/own-schemas.ts'
import { leadsWithin } from '../openapi/references.ts'
import { isRecord } from './values.ts'

const draft = 'http://json-schema.org/draft-07/schema'

/** Keywords that hold values: a value that looks like a reference is none. */
const holdingValues = ['const', 'enum', 'default', 'examples']

/**
 * Returns true for a JSON Schema whose references all lead to something in it. The schema is only read: compiling takes
 * seconds for a long one, and minutes for one with many references to much. Its users check the meaning of its patterns.
 */
export function isUsableSchema(schema: unknown): boolean {
  isSchema ??= compileMetaSchema()
  return isSchema(withDoubles(schema)) && hasReferencesThatLead(schema)
}

let isSchema: ValidateFunction | undefined

/** Lists can hold duplicates, because a check would compare each entry with each. */
function compileMetaSchema(): ValidateFunction {
  const ajv = new Ajv({ ...ofOwnSchemas, validateFormats: false })
  const { $id: _, ...metaSchema } = JSON.parse(
    JSON.stringify(ajv.schemas[draft]?.schema),
    (keyword, value) => (keyword === 'uniqueItems' && value === true ? undefined : value),
  )
  return ajv.compile(metaSchema)
}

function hasReferencesThatLead(schema: unknown): boolean {
  const waiting = [schema]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isRecord(next) && typeof next.$ref === 'string' && !leadsWithin(schema, next.$ref)) return false
    if (typeof next !== 'object' || next === null) continue
    for (const [name, inner] of Object.entries(next)) if (!holdingValues.includes(name)) waiting.push(inner)
  }
  return true
}
