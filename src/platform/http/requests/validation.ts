import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { Type } from 'typebox'
import { emailAddress } from '../../email-address.ts'
import { ofOwnSchemas } from '../../own-schemas.ts'
import { schemaWriter } from '../responses/schema-writer.ts'
import { nearMissOf } from './near-misses.ts'

/**
 * Two validators: JSON bodies are taken as they are (a number is no string), while path, query and header values,
 * which arrive as text, are turned into what their schema says, with defaults filled in and a single value of a
 * repeatable parameter made a list. Fields that a body's schema does not know are taken out, unless it refuses them
 * itself, or they are nearly ones that it knows: no handler ever sees one.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  // `verbose` names the schema that was violated, whose description says what is allowed.
  const shared = { ...ofOwnSchemas, useDefaults: true, verbose: true } as const
  // `strictNumbers` refuses infinity, which JSON can say as 1e400. With coercion it would skip the bounds instead.
  const strict = withFormats(new Ajv({ ...shared, coerceTypes: false, strictNumbers: true }))
  const coercing = withFormats(new Ajv({ ...shared, coerceTypes: 'array' }))
  const stripping = withFormats(
    new Ajv({ ...shared, coerceTypes: false, strictNumbers: true, removeAdditional: true }),
  )
  return ({ schema, httpPart, method }) => {
    const validator = onFirstUse(() => {
      if (httpPart === 'body')
        return isClosed(schema) ? strict.compile(schema) : stripping.compile(closed(schema))
      // A misspelt filter must not make a deletion larger.
      const isDeletion = httpPart === 'querystring' && method === 'DELETE'
      return coercing.compile(isDeletion ? closed(schema) : schema)
    })
    const numbers = httpPart === 'body' ? [] : numbersIn(schema)
    const namesAllFields = httpPart === 'body' && !isClosed(schema)
    // False with `errors` beside it, as from Ajv itself, is understood by both users: Fastify, and `requireBody`.
    const validate: ReturnType<FastifySchemaCompiler<TSchema>> = value => {
      const compiled = validator()
      emptyBlanks(value, numbers)
      const nearMiss = namesAllFields ? nearMissOf(schema, value) : undefined
      const isValid = nearMiss === undefined && compiled(value)
      validate.errors = nearMiss === undefined ? (compiled.errors ?? null) : [nearMiss]
      return isValid
    }
    return validate
  }
}

/** Writes answers by their schemas, which leaves out what these do not know. */
export function createSerializerCompiler(): FastifySerializerCompiler<TSchema> {
  return ({ schema }) => {
    const serializer = onFirstUse(() => schemaWriter(schema))
    return value => serializer()(value)
  }
}

/** Compiling the schemas of all routes takes a quarter of a second, for which every start would wait. */
function onFirstUse<Compiled>(compile: () => Compiled): () => Compiled {
  let compiled: Compiled | undefined
  return () => {
    compiled ??= compile()
    return compiled
  }
}

function numbersIn({ properties = {} }: { properties?: Record<string, TSchema> }): string[] {
  return Object.keys(properties).filter(
    name => Type.IsNumber(properties[name]) || Type.IsInteger(properties[name]),
  )
}

/** Ajv takes a blank for 0, where a number is wanted, but no empty text. */
function emptyBlanks(values: Record<string, unknown>, numbers: readonly string[]): void {
  for (const name of numbers) {
    const value = values[name]
    if (typeof value === 'string' && value.trim() === '') values[name] = ''
  }
}

function isClosed(schema: TSchema): boolean {
  return 'additionalProperties' in schema
}

function closed(schema: TSchema): TSchema {
  return { ...schema, additionalProperties: false }
}

function withFormats(ajv: Ajv): Ajv {
  formats.default(ajv, ['date-time', 'date', 'uri'])
  return ajv.addFormat('email', emailAddress)
}
