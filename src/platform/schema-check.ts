import type { ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { ofOwnSchemas } from './own-schemas.ts'
import type { SchemaProblem, SchemaViolation } from './schema-problem.ts'
import { problemFrom } from './schema-problem.ts'

// Formats say to readers of a schema what a text means; they need not be checked again in what we stored ourselves.
const ajv = new Ajv({ ...ofOwnSchemas, validateFormats: false, verbose: true })
const compiled = new WeakMap<TSchema, ValidateFunction>()
const whole = new Ajv({ ...ofOwnSchemas, validateFormats: false, verbose: true, allErrors: true })
const compiledWhole = new WeakMap<TSchema, ValidateFunction>()

/** Whether a value from outside is what the schema says; each schema is compiled when it is first used. */
export function matches<Schema extends TSchema>(schema: Schema, value: unknown): value is Static<Schema> {
  return validatorOf(schema)(value)
}

/** The value's problem; undefined if it matches. */
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

/** Everything that is wrong with a value, each with the part of it that is. */
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
  /** Whether something required is not there. */
  isMissing: boolean
  value: unknown
}
