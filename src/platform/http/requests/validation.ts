import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { emailAddress } from '../../email-address.ts'
import { ofOwnSchemas } from '../../own-schemas.ts'
import { schemaWriter } from '../responses/schema-writer.ts'
import { nearMissOf } from './near-misses.ts'

/**
 * Creates two validators: JSON bodies are not converted (a number is no string), while path, query and header values,
 * which arrive as text, are converted by their schema, with defaults filled in and a single value of a
 * repeatable parameter made a list. Unknown fields of a body are removed, unless its schema rejects them
 * itself, or they nearly match known ones: no handler ever sees one.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<TSchema> {
  // `verbose` adds the violated schema, whose description explains the permitted values.
  const shared = { ...ofOwnSchemas, useDefaults: true, verbose: true } as const
  // `strictNumbers` rejects infinity, which JSON can express as 1e400. With coercion it would skip the bounds instead.
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
    // Both users, Fastify and `requireBody`, understand a result of false with `errors` beside it, as from Ajv itself.
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

/** Serializes responses by their schemas, which leaves out unknown fields. */
export function createSerializerCompiler(): FastifySerializerCompiler<TSchema> {
  return ({ schema }) => {
    const serializer = onFirstUse(() => schemaWriter(schema))
    return value => serializer()(value)
  }
}

/** Delays compilation: compiling the schemas of all routes takes a quarter of a second, which would delay every start. */
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

/** Ajv reads a blank as 0 where a number is wanted, but rejects an empty text. */
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
