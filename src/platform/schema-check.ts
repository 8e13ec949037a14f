import { Ajv, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { ofOwnSchemas } from './own-schemas.ts'
import { problemFrom, type SchemaProblem, type SchemaViolation } from './schema-problem.ts'

// Formats explain a text to readers of a schema; they need no second check in our own stored data.
const ajv = new Ajv({ ...ofOwnSchemas, validateFormats: false, verbose: true })
const compiled = new WeakMap<TSchema, ValidateFunction>()
const whole = new Ajv({ ...ofOwnSchemas, validateFormats: false, verbose: true, allErrors: true })
const compiledWhole = new WeakMap<TSchema, ValidateFunction>()

/** Returns true if a value from outside matches the schema; each schema is compiled at its first use. */
export function matches<Schema extends TSchema>(schema: Schema, value: unknown): value is Static<Schema> {
  return validatorOf(schema)(value)
}

/** Returns the value's problem; undefined if it matches. */
export function problemOf(schema: TSchema, value: unknown): SchemaProblem | undefined {
  const validate = validatorOf(schema)
  const violation = validate(value) ? undefined : validate.errors?.[0]
  return violation && problemFrom(violation as SchemaViolation)
}

function validatorOf(schema: TSchema): ValidateFunction {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const validate = ajv.compile(schema)
  compiled.set(schema, validate)
  return validate
}

/** Returns all problems of a value, each with its part of the value. */
export function problemsOf(schema: TSchema, value: unknown): (SchemaProblem & ViolatingPart)[] {
  const validate = compiledWhole.get(schema) ?? whole.compile(schema)
  compiledWhole.set(schema, validate)
  if (validate(value)) return []
  return (validate.errors ?? []).map(error => ({
    ...problemFrom(error as SchemaViolation),
    isMissing: error.keyword === 'required',
    value: error.keyword === 'additionalProperties' ? undefined : error.data,
  }))
}

interface ViolatingPart {
  /** True if a required part is missing. */
  isMissing: boolean
  value: unknown
}
