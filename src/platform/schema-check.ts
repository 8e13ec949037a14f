import type { ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import type { Static, TSchema } from 'typebox'

// Formats tell readers of a schema what a text means; they need not be checked again in what we stored ourselves.
const ajv = new Ajv({ strict: false, validateFormats: false })
const compiled = new WeakMap<TSchema, ValidateFunction>()

/** Whether a value from outside is what the schema says; each schema is compiled when it is first used. */
export function matches<Schema extends TSchema>(schema: Schema, value: unknown): value is Static<Schema> {
  return validatorOf(schema)(value)
}

/** What is wrong with the value, as "field problem"; undefined if it matches. */
export function problemOf(schema: TSchema, value: unknown): string | undefined {
  const validate = validatorOf(schema)
  if (validate(value)) return undefined
  const problem = validate.errors?.[0]
  const field = problem?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  return `${field} ${problem?.message ?? 'is not valid'}`.trim()
}

function validatorOf(schema: TSchema): ValidateFunction {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const validate = ajv.compile(schema)
  compiled.set(schema, validate)
  return validate
}
